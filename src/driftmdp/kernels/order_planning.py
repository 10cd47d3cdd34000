"""How much to order, exactly, when demand follows a known law: the least average cost, and the best order today.

Costs are counted without l X, as in the pseudo-reward of [CSZ20] Section 7.1, which no order changes: a day costs
f 1[a > 0] + c a + h (what is left) - l (what is sold).

Without a lead time an (s, S) rule is optimal: whenever the stock is s or less, order up to S, [V66]. Its cost is
that of a renewal process, [ZF91]: m_i, the days that the stock is i below S before the next order, solve
m_0 = 1 / (1 - p_0), m_i = sum_{x=1..i} p_x m_{i-x} / (1 - p_0), and with L(y) the mean cost of a day that begins
with y on sale, each unit sold charged c for its successor,

    C(s, S) = (f + sum_{i < S - s} m_i L(S - i)) / sum_{i < S - s} m_i.

All of them together take O(S^2). The units that an order brings are sold or held, never lost, so that charging c
at the sale changes no average. With a lead time the rule is not of this form, and the plan is that of the MDP of
problems/inventory/stock.py, by modified policy iteration with a closing Bellman step for a certificate. An item
that hardly sells moves so slowly that sweeps would take thousands: then policies are evaluated by elimination.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.gain import KAPPA
from driftmdp.kernels.inventory_arrays import DemandWorkspace, ShelfModel
from driftmdp.kernels.policy_iteration import solve_dense

COST_TIE = 1e-9  # of the costs' sum: orders whose costs differ less are equally good, and the smallest is taken
NO_DEMAND = 1e-12  # an order makes sense only if demand is more likely than this
PLAN_PRECISION = 1e-6  # of a plan's average cost, in units of the costs' sum
POLICY_SWEEPS = 5  # of one policy between two improvements
SWEEPING_ROUNDS = 15  # improvements by sweeps before elimination
ELIMINATION_ROUNDS = 40  # before sweeps go on
MAX_SWEEPS = 100_000


@kernel
def find_best_levels(
    law: Floats, shelf: ShelfModel, renewals: Floats, day_costs: Floats, may_never: bool
) -> tuple[int, int, float]:
    """Return s, S and the average cost of the cheapest (s, S) rule with 0 <= s < S <= capacity.

    With ``may_never``, not to order at all is a rule too: s = -1, S = 0, at cost 0.
    """
    best_s, best_up, best = 0, 1, np.inf
    if may_never:
        best_s, best_up, best = -1, 0, 0.0
    if law[0] >= 1.0 - NO_DEMAND:
        return best_s, best_up, shelf.holding * best_up  # what is ordered is held for ever
    tie = COST_TIE * _cost_scale(shelf)
    _count_renewals(law, renewals)
    _fill_day_costs(law, shelf, day_costs)
    for up in range(1, shelf.capacity + 1):
        cost, days = shelf.fixed, 0.0
        for below in range(up):
            cost += renewals[below] * day_costs[up - below]
            days += renewals[below]
            # Of rules that cost the same, the smallest S, then the smallest s.
            if cost / days < best - tie:
                best_s, best_up, best = up - below - 1, up, cost / days
            elif up == best_up and cost / days <= best + tie:
                best_s = up - below - 1  # the levels between are never met: leave them out of the rule
    return best_s, best_up, best


@kernel
def _cost_scale(shelf: ShelfModel) -> float:
    return shelf.fixed + shelf.unit + shelf.lost + shelf.holding


@kernel
def _count_renewals(law: Floats, renewals: Floats) -> None:
    moves = 1.0 - law[0]
    renewals[0] = 1.0 / moves
    for i in range(1, renewals.size):
        total = 0.0
        for x in range(1, i + 1):
            total += law[x] * renewals[i - x]
        renewals[i] = total / moves


@kernel
def _fill_day_costs(law: Floats, shelf: ShelfModel, day_costs: Floats) -> None:
    """Fill ``day_costs[y]`` with L(y)."""
    sold, beyond = 0.0, 1.0
    day_costs[0] = 0.0
    for on_sale in range(1, day_costs.size):
        beyond -= law[on_sale - 1]
        sold += beyond
        day_costs[on_sale] = (shelf.unit - shelf.lost) * sold + shelf.holding * (on_sale - sold)


@kernel
def cost_of_day(law: Floats, shelf: ShelfModel, values: Floats, on_sale: int) -> float:
    """Return the mean cost of a day with y on sale, and of the stock that it leaves, without a lead time."""
    total, beyond = 0.0, 1.0
    for x in range(on_sale):
        left = on_sale - x
        total += law[x] * (values[left] + shelf.holding * left - shelf.lost * x)
        beyond -= law[x]
    return total + beyond * (values[0] - shelf.lost * on_sale)


@kernel
def value_levels(law: Floats, shelf: ShelfModel, levels: tuple[int, int, float], values: Floats) -> None:
    """Fill ``values[s]`` with the relative cost of a stock, before ordering, under a rule (s, S, its cost)."""
    s, up, gain = levels
    for stock in range(values.size):
        values[stock] = 0.0
        if stock <= s:
            values[stock] = shelf.fixed + shelf.unit * (up - stock)
    if law[0] >= 1.0 - NO_DEMAND:
        for stock in range(values.size):
            values[stock] = shelf.holding * stock  # it stays for ever, less is better
        return
    # From low stocks to high: demand only lowers the stock. A day without a sale leads back: solved for it.
    for stock in range(max(s + 1, 1), values.size):
        total, beyond = law[0] * shelf.holding * stock, 1.0 - law[0]
        for x in range(1, stock):
            left = stock - x
            total += law[x] * (values[left] + shelf.holding * left - shelf.lost * x)
            beyond -= law[x]
        total += beyond * (values[0] - shelf.lost * stock)
        values[stock] = (total - gain) / (1.0 - law[0])
        if stock < up:  # a stock that the rule never meets may be better off with an order
            values[stock] = min(values[stock], shelf.fixed + shelf.unit * (up - stock))


@kernel
def plan(workspace: DemandWorkspace, shelf: ShelfModel) -> tuple[int, int, float, float]:
    """Fill the values for ``workspace.law``. Return s, S (-1, 0 with a lead time), average cost and residual."""
    if shelf.lead_time == 0:
        s, up, gain = find_best_levels(workspace.law, shelf, workspace.renewals, workspace.totals, True)
        value_levels(workspace.law, shelf, (s, up, gain), workspace.values)
        return s, up, gain, 0.0
    gain, residual = plan_ahead(workspace, shelf)
    return -1, 0, gain, residual


@kernel
def plan_ahead(workspace: DemandWorkspace, shelf: ShelfModel) -> tuple[float, float]:
    """Fill the values with the relative costs of an optimal plan. Return its average cost and residual."""
    values = workspace.values
    for state in range(values.size):
        values[state] = 0.0
    # Modified policy iteration on the lazy chain KAPPA P + (1 - KAPPA), which has no cycles (paper-notes, item 32).
    precision = PLAN_PRECISION * _cost_scale(shelf)
    gain, residual = 0.0, np.inf
    for improvement in range(MAX_SWEEPS // (POLICY_SWEEPS + 1)):
        low, high = _improve(workspace, shelf)
        gain, residual = 0.5 * (low + high), high - low
        if residual <= precision:
            break
        # An item that hardly sells mixes so slowly that sweeps would take thousands.
        if workspace.system.size > 0 and SWEEPING_ROUNDS <= improvement < SWEEPING_ROUNDS + ELIMINATION_ROUNDS:
            _solve_policy(workspace, shelf)
        else:
            for _ in range(POLICY_SWEEPS):
                _sweep_policy(workspace, shelf)
    for state in range(values.size):  # the bias of the chain itself, see kernels/gain.py
        values[state] *= KAPPA
    return gain, residual


@kernel
def _improve(workspace: DemandWorkspace, shelf: ShelfModel) -> tuple[float, float]:
    """Take one Bellman step, note the best orders, and return the least and the largest growth."""
    values, other = workspace.values, workspace.other
    low, high = np.inf, -np.inf
    for s in range(shelf.capacity + 1):
        for state in range(workspace.offsets[s], workspace.offsets[s + 1]):
            coming = state - workspace.offsets[s]
            order, cost = _best_order_ahead(workspace, shelf, workspace.law, KAPPA, s, coming)
            workspace.policy[state] = order
            other[state] = cost + (1.0 - KAPPA) * values[state]
            low = min(low, other[state] - values[state])
            high = max(high, other[state] - values[state])
    _store_relative(values, other)
    return low, high


@kernel
def _best_order_ahead(
    workspace: DemandWorkspace, shelf: ShelfModel, law: Floats, kappa: float, s: int, coming: int
) -> tuple[int, float]:
    """Return the best order in a state and its cost, values counted ``kappa`` times, for lead times 1 and 2."""
    most = shelf.capacity - s - coming
    totals, values = workspace.totals, workspace.values
    for order in range(most + 1):
        totals[order] = 0.0
    today, beyond = 0.0, 1.0
    for x in range(s + 1):
        chance = law[x] if x < s else beyond
        beyond -= chance
        left = s - x
        today += chance * (shelf.holding * left - shelf.lost * x)
        # The next state is a first one plus the order, so that all orders of a state are summed in one pass.
        first = left if shelf.lead_time == 1 else workspace.offsets[left + coming]
        for order in range(most + 1):
            totals[order] += chance * values[first + order]
    best, cost, tie = 0, np.inf, COST_TIE * _cost_scale(shelf)
    for order in range(most + 1):
        total = kappa * totals[order] + shelf.unit * order + (shelf.fixed if order > 0 else 0.0)
        if total < cost - tie:
            best, cost = order, total
    return best, today + cost


@kernel
def _sweep_policy(workspace: DemandWorkspace, shelf: ShelfModel) -> None:
    """Take one step of the policy, costs relative to those of the first state."""
    values, other, law = workspace.values, workspace.other, workspace.law
    for s in range(shelf.capacity + 1):
        for state in range(workspace.offsets[s], workspace.offsets[s + 1]):
            order = workspace.policy[state]
            total, beyond = 0.0, 1.0
            for x in range(s + 1):
                chance = law[x] if x < s else beyond
                beyond -= chance
                left = s - x
                arrives = state - workspace.offsets[s]
                following = left + order if shelf.lead_time == 1 else workspace.offsets[left + arrives] + order
                total += chance * (KAPPA * values[following] + shelf.holding * left - shelf.lost * x)
            ordering = shelf.unit * order + (shelf.fixed if order > 0 else 0.0)
            other[state] = total + ordering + (1.0 - KAPPA) * values[state]
    _store_relative(values, other)


@kernel
def _solve_policy(workspace: DemandWorkspace, shelf: ShelfModel) -> None:
    """Fill ``workspace.values`` with the relative costs of the policy, exactly: (I - P + 1/n) h = cost."""
    system, cost, law, n = workspace.system, workspace.other, workspace.law, workspace.other.size
    for s in range(shelf.capacity + 1):
        for state in range(workspace.offsets[s], workspace.offsets[s + 1]):
            order, arrives = workspace.policy[state], state - workspace.offsets[s]
            for j in range(n):
                system[state, j] = 1.0 / n
            cost[state] = shelf.unit * order + (shelf.fixed if order > 0 else 0.0)
            beyond = 1.0
            for x in range(s + 1):
                chance = law[x] if x < s else beyond
                beyond -= chance
                left = s - x
                following = left + order if shelf.lead_time == 1 else workspace.offsets[left + arrives] + order
                cost[state] += chance * (shelf.holding * left - shelf.lost * x)
                # 1 - p(i | i) is summed, not subtracted: a rare way out keeps its digits.
                if following != state:
                    system[state, state] += chance
                    system[state, following] -= chance
    solve_dense(system, cost)
    for state in range(n):  # a policy with several recurrent classes has no answer: sweeps go on
        if not np.isfinite(cost[state]):
            return
    for state in range(n):
        workspace.values[state] = (cost[state] - cost[0]) / KAPPA


@kernel
def _store_relative(values: Floats, other: Floats) -> None:
    base = other[0]
    for state in range(values.size):
        values[state] = other[state] - base


@kernel
def choose_order(workspace: DemandWorkspace, shelf: ShelfModel, s: int, coming: int) -> int:
    """Return what to order today: today's demand follows ``workspace.today``, later days' ``workspace.law``."""
    if shelf.lead_time > 0:
        order, _ = _best_order_ahead(workspace, shelf, workspace.today, 1.0, s, coming)
        return order
    best, cost, tie = 0, np.inf, COST_TIE * _cost_scale(shelf)
    for order in range(shelf.capacity - s + 1):
        total = cost_of_day(workspace.today, shelf, workspace.values, s + order)
        total += shelf.unit * order + (shelf.fixed if order > 0 else 0.0)
        if total < cost - tie:
            best, cost = order, total
    return best
