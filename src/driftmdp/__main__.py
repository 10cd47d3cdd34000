"""The command ``driftmdp``, also ``python -m driftmdp``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without its packages, say which to install."""
    try:
        from driftmdp.cli import run_cli
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "driftmdp":
            raise
        from driftmdp.errors import install_hint

        print(
            f"error: The command line needs the package {error.name!r}, which is not installed. "
            f"{install_hint('experiments')}",
            file=sys.stderr,
        )
        sys.exit(1)
    run_cli()


if __name__ == "__main__":
    main()
