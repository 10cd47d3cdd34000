"""Where the numbers of a leaderboard come from."""

from __future__ import annotations

from collections.abc import Iterable

from driftmdp.display import counted
from driftmdp.experiments.identity import digest
from driftmdp.report.content import Section, Table, TableCell
from driftmdp.report.leaderboard.view import Leaderboard


def provenance(board: Leaderboard) -> Section:
    """Return versions, revisions, machines, and a digest of all results on fresh seeds."""
    sessions = [session for results in board.results for session in results.sessions]
    manifests = [results.manifest for results in board.results]
    machines = _each(f"{s['machine']['processor']}, {counted(s['machine']['cores'], 'core')}" for s in sessions)
    spent = sum(seconds for session in sessions for _, seconds in session["cells"].values())
    facts = {
        "Suite": board.name,
        "Digest of all results on fresh seeds": digest("".join(results.digest for results in board.results)),
        "Runs on fresh seeds": f"{sum(contest.n_runs for contest in board.contests):,}",
        "Time spent in them": f"{spent / 60:.1f} core-minutes",
        "Run between": " and ".join([min(s["began"] for s in sessions), max(s["began"] for s in sessions)])
        if sessions
        else "",
        "Machine": machines,
        "Revision of the last session": _each(
            manifest["revision"] or "not in a checkout" for manifest in manifests
        ),
        "Revisions of all sessions": _each(session.get("revision") or "unknown" for session in sessions),
        **{
            f"Version of {name}": _each(manifest["versions"][name] for manifest in manifests)
            for name in manifests[0]["versions"]
        },
    }
    rows = [[TableCell(key), TableCell(value)] for key, value in facts.items()]
    table = Table("provenance", "Where these results come from", ["What", "Value"], rows)
    return Section("provenance", "Provenance", [], [table])


def _each(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))
