"""Compiled loops: arrays in, arrays filled. No validation, no I/O, no classes.

``driftmdp.kernels.NAME`` loads a module, and with it the compiler, when it is first used, so that
importing driftmdp costs nothing of it.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # as re-exports, for type checkers
    from driftmdp.kernels import acceleration as acceleration
    from driftmdp.kernels import ad_switch as ad_switch
    from driftmdp.kernels import adaptive_agent as adaptive_agent
    from driftmdp.kernels import adaptive_v1 as adaptive_v1
    from driftmdp.kernels import band as band
    from driftmdp.kernels import bandits as bandits
    from driftmdp.kernels import bellman as bellman
    from driftmdp.kernels import censored_demand as censored_demand
    from driftmdp.kernels import changing_bandits as changing_bandits
    from driftmdp.kernels import deliveries as deliveries
    from driftmdp.kernels import demand_experts as demand_experts
    from driftmdp.kernels import demand_laws as demand_laws
    from driftmdp.kernels import detection as detection
    from driftmdp.kernels import discounted_thompson as discounted_thompson
    from driftmdp.kernels import extended_value_iteration as extended_value_iteration
    from driftmdp.kernels import fading_memory as fading_memory
    from driftmdp.kernels import fading_memory_v1 as fading_memory_v1
    from driftmdp.kernels import gain as gain
    from driftmdp.kernels import given_sets as given_sets
    from driftmdp.kernels import graph as graph
    from driftmdp.kernels import hindsight_orders as hindsight_orders
    from driftmdp.kernels import hitting_times as hitting_times
    from driftmdp.kernels import imed_rl as imed_rl
    from driftmdp.kernels import inventory_rules as inventory_rules
    from driftmdp.kernels import kl_ucb as kl_ucb
    from driftmdp.kernels import late_orders as late_orders
    from driftmdp.kernels import late_service as late_service
    from driftmdp.kernels import master as master
    from driftmdp.kernels import optimist as optimist
    from driftmdp.kernels import optimistic_q as optimistic_q
    from driftmdp.kernels import order_decisions as order_decisions
    from driftmdp.kernels import order_menus as order_menus
    from driftmdp.kernels import order_planning as order_planning
    from driftmdp.kernels import path_orders as path_orders
    from driftmdp.kernels import policy_iteration as policy_iteration
    from driftmdp.kernels import posterior as posterior
    from driftmdp.kernels import restart_q as restart_q
    from driftmdp.kernels import review_cycles as review_cycles
    from driftmdp.kernels import reward_drift as reward_drift
    from driftmdp.kernels import sharp_optimist as sharp_optimist
    from driftmdp.kernels import split_tests as split_tests
    from driftmdp.kernels import transition_counts as transition_counts
    from driftmdp.kernels import world as world


def __getattr__(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":  # a module of ours needs one that is missing
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
