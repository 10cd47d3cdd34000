"""The command ``driftmdp``, also ``python -m driftmdp``."""

import sys


def main() -> None:
    """Run the command line, or name the package that it lacks."""
    try:
        from driftmdp.cli import run_cli
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        from driftmdp.errors import missing_package

        missing = missing_package(error, "The command line", "experiments")
        if missing is error:
            raise
        sys.exit(f"error: {missing}")
    run_cli()


if __name__ == "__main__":
    main()
