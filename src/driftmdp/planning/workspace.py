"""Room for an optimistic plan, for planning itself and for agents."""

from __future__ import annotations

import numpy as np

from driftmdp.kernels.arrays import PlanWorkspace, PlausibleSets


def new_workspace(
    states: int,
    rows: int,
    stored: int,
    intervals: bool,
    all_states: int = 0,
    slots: int = 0,
    complete: bool = False,
    found: bool = True,
) -> PlanWorkspace:
    """Return room for a plan.

    Parameters
    ----------
    states, rows, stored
        How many states, rows, and places in all rows.
    intervals
        Whether the sets are intervals.
    all_states, slots
        Agents number the states and slots that they remember.
    complete
        Whether every row has a place for every state: then it needs no indices.
    found
        Whether there is room for the optimistic transitions too, which not every plan needs: to touch memory for
        the first time costs more than to plan in it.
    """
    sets = PlausibleSets(
        offsets=np.empty(states + 1, np.int32),
        rewards=np.empty(rows),
        indptr=np.empty(rows + 1, np.int32),
        support=np.empty(rows, np.int32),
        indices=np.empty(0 if complete else stored, np.int32),
        data=np.empty(stored),
        room=np.empty(stored if intervals else 0),
        radius=np.empty(rows),
        weight=np.empty(states),
    )
    return PlanWorkspace(
        local_of=np.full(all_states, -1, np.int32),
        states=np.empty(states if slots else 0, np.int32),
        first_slot=np.empty(states + 2 if slots else 0, np.int32),
        slot_order=np.empty(slots, np.int32),
        row_of=np.empty(slots, np.int32),
        sets=sets,
        indices=np.empty(stored if found else 0, np.int32),
        data=np.empty(stored if found else 0),
        u=np.empty(states),
        new=np.empty(states),
        before=np.empty(states),
        values=np.empty(rows),
        actions=np.zeros(states, np.int32),
        order=np.empty(states, np.int32),
        scratch=np.zeros(states),
    )


def with_room_for_transitions(workspace: PlanWorkspace) -> PlanWorkspace:
    """Return the draft with room for the optimistic transitions."""
    if workspace.data.size:
        return workspace
    stored = workspace.sets.data.size
    return workspace._replace(indices=np.empty(stored, np.int32), data=np.empty(stored))
