"""Where the results of the leaderboard come from."""

from collections.abc import Iterable

from driftmdp.display import counted
from driftmdp.experiments.identity import digest
from driftmdp.report.content import Section, Table
from driftmdp.report.text import table_row
from driftmdp.suite.leaderboard import Leaderboard


def provenance_section(board: Leaderboard) -> Section:
    """Return versions, revisions, machines, and a digest of all results on fresh seeds."""
    sessions = [session for results in board.results for session in results.sessions]
    manifests = [results.manifest for results in board.results]
    n_asked = sum(len(manifest["cells"]) * len(manifest["seeds"]) for manifest in manifests)
    spent = sum(seconds for session in sessions for _, seconds in session["cells"].values())
    began = [session["began"] for session in sessions]
    machines = (f"{s['machine']['processor']}, {counted(s['machine']['cores'], 'core')}" for s in sessions)
    facts = {
        "Suite": board.name,
        "Digest of all results on fresh seeds": digest("".join(results.digest for results in board.results)),
        "Runs on fresh seeds": f"{n_asked - board.n_missing:,}",
        "Time spent in them": f"{spent / 60:.1f} core-minutes",
        "Run between": f"{min(began)} and {max(began)}" if began else "",
        "Machine": _distinct(machines),
        "Revision of the last session": _distinct(found["revision"] or "not in a checkout" for found in manifests),
        "Revisions of all sessions": _distinct(session.get("revision") or "unknown" for session in sessions),
    }
    for name in manifests[0]["versions"] if manifests else ():
        facts[f"Version of {name}"] = _distinct(manifest["versions"][name] for manifest in manifests)
    rows = [table_row(key, value) for key, value in facts.items()]
    table = Table("provenance", "Where these results come from", ["What", "Value"], rows)
    return Section("provenance", "Provenance", [], [table])


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))
