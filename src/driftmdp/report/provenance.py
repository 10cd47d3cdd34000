"""Where results come from, as tables."""

from __future__ import annotations

from typing import Any

from driftmdp.display import counted
from driftmdp.experiments import Results
from driftmdp.report.content import Section, Table, TableCell

SESSIONS_SHOWN = 20


def provenance_section(results: Results) -> Section:
    """Return versions, revision, seeds and digest; and when, where and how fast it was run."""
    note = "The same spec with the same numerics version gives the same digest, whatever the number of workers."
    tables = [_source(results)]
    if results.sessions:
        tables.append(_sessions(results.sessions[-SESSIONS_SHOWN:]))
    return Section("provenance", "Provenance", [note], tables)


def _source(results: Results) -> Table:
    manifest = results.manifest
    seeds, curve = manifest["seeds"], manifest["spec"]["curve"]
    in_a_row = seeds == list(range(seeds[0], seeds[-1] + 1))
    facts = {
        "Experiment": manifest["name"],
        "Digest of all results": results.digest,
        "Seeds": f"{seeds[0]} to {seeds[-1]}" if in_a_row else ", ".join(map(str, seeds)),
        "Curve": f"{counted(curve['points'], 'point')}, {curve['spacing']}",
        "Revision": manifest["revision"] or "not in a checkout",
        **{f"Version of {name}": version for name, version in manifest["versions"].items()},
    }
    rows = [[TableCell(key), TableCell(str(value))] for key, value in facts.items()]
    return Table("provenance", "Where these results come from", ["What", "Value"], rows)


def _sessions(sessions: list[dict[str, Any]]) -> Table:
    rows = [
        [
            TableCell(session["began"]),
            TableCell(f"{session['done']:,}", float(session["done"])),
            TableCell(f"{session['failed']:,}", float(session["failed"])),
            TableCell(f"{session['seconds']:.1f} s", float(session["seconds"])),
            TableCell(f"{session['workers']} {session['engine']}"),
            TableCell(f"{session['machine']['processor']}, {counted(session['machine']['cores'], 'core')}"),
        ]
        for session in sessions
    ]
    columns = ["Began", "Runs", "Failed", "Time", "Workers", "Machine"]
    return Table("sessions", "When and where they were run", columns, rows)
