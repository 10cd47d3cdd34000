"""Mutations of the code that the checks guard, each with the statements that it must break.

A mutation breaks one thing: a radius, the widening, the window, a formula, a solver.
"""

import dataclasses
import inspect
from types import SimpleNamespace

import numpy as np

from driftmdp import agents, formulas, planning, problems
from driftmdp.agents import optimist
from driftmdp.formulas import bounds, lemmas
from driftmdp.mdp import drifting
from driftmdp.statements import run_trace
from driftmdp.statements.run_trace import RunTrace

MUTATIONS = {}


def mutation(*names):
    """Register a mutation and the statements that it must break."""

    def register(function):
        for name in names:
            MUTATIONS.setdefault(function.__name__, (function, []))[1].append(name)
        return function

    return register


def scaled(monkeypatch, module, name, factor):
    """Multiply what a function returns."""
    original = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **kwargs: factor * original(*args, **kwargs))


# the agent ---------------------------------------------------------------------------------------------------


def rules_changed(monkeypatch, change):
    original = optimist.optimist_params
    monkeypatch.setattr(optimist, "optimist_params", lambda *parts: change(original(*parts)))


def phases_changed(monkeypatch, change):
    original = optimist.phases_of
    monkeypatch.setattr(optimist, "phases_of", lambda *parts: change(original(*parts)))


@mutation("property-1", "proposition-2", "proposition-5")
def the_agents_radii_are_half_of_what_they_should_be(monkeypatch):
    rules_changed(monkeypatch, lambda rules: rules._replace(scale=rules.scale / 2))


@mutation("property-2", "proposition-2", "proposition-5")
def the_agents_radii_are_twice_what_they_should_be(monkeypatch):
    rules_changed(monkeypatch, lambda rules: rules._replace(scale=rules.scale * 2))


@mutation("property-1", "proposition-3", "theorem-1")
def the_widening_is_missing(monkeypatch):
    phases_changed(
        monkeypatch, lambda phases: phases._replace(transition_extra=np.zeros_like(phases.transition_extra))
    )


@mutation("property-1", "property-2", "theorem-1", "theorem-3", "theorem-4")
def the_window_is_one_too_short(monkeypatch):
    phases_changed(monkeypatch, lambda phases: phases._replace(window=phases.window - (phases.window > 0)))


@mutation("property-1", "property-2", "theorem-1", "theorem-3", "theorem-4")
def the_window_is_one_too_long(monkeypatch):
    phases_changed(monkeypatch, lambda phases: phases._replace(window=phases.window + (phases.window > 0)))


@mutation("lemma-12")
def episodes_do_not_end_at_multiples_of_the_window(monkeypatch):
    phases_changed(monkeypatch, lambda phases: phases._replace(every=np.zeros_like(phases.every)))


@mutation("lemma-12", "theorem-1", "theorem-4")
def no_pair_ends_an_episode_by_doubling(monkeypatch):
    """What a trace records of such an agent; the rule itself is compiled."""
    original = run_trace.simulate

    def without(agent, problem, seed):
        run = original(agent, problem, seed)
        starts = run.episode_starts
        return dataclasses.replace(run, episode_starts=starts[(starts == 1) | (starts % agent.window == 0)])

    monkeypatch.setattr(run_trace, "simulate", without)


@mutation("property-2", "theorem-1", "theorem-3", "theorem-4")
def plans_are_a_hundred_times_less_precise(monkeypatch):
    """What a trace records of such an agent; the precision is compiled."""
    original = run_trace.simulate_until

    def imprecise(agent, problem, seed, steps):
        for player, tau in zip(original(agent, problem, seed, steps), steps, strict=True):
            belief = player.beliefs()
            worse = dataclasses.replace(belief, gain=belief.gain + 99 / np.sqrt(tau))
            yield SimpleNamespace(beliefs=lambda worse=worse: worse)

    monkeypatch.setattr(run_trace, "simulate_until", imprecise)


@mutation("theorem-1", "theorem-3", "remark-5", "remark-6", "remark-7")
def the_agent_takes_costs_for_rewards(monkeypatch):
    def upside_down(rules):
        return rules._replace(bottom=rules.bottom + rules.span, span=-rules.span)

    rules_changed(monkeypatch, upside_down)


@mutation("regret-growth")
def the_agent_never_forgets(monkeypatch):
    def forgetful(problem, **parameters):
        return agents.SWUCRL2CW(
            problem.space, problem.horizon, problem.horizon, 0.1, reward_range=problem.reward_range, **parameters
        )

    monkeypatch.setattr(agents.SWUCRL2CW, "for_problem", forgetful)


@mutation("theorem-2")
def a_block_is_played_with_the_arm_beside_the_one_drawn(monkeypatch):
    original = agents.BORL._begin_block

    def beside(self, block, arm):
        original(self, block, (arm + 1) % len(self._blocks.arms))

    monkeypatch.setattr(agents.BORL, "_begin_block", beside)


@mutation("theorem-2")
def the_master_is_fed_what_was_not_earned(monkeypatch):
    original = agents.block_master.BlockMaster._end_block

    def upside_down(self):
        self._gathered = self._blocks.length - self._gathered
        original(self)

    monkeypatch.setattr(agents.block_master.BlockMaster, "_end_block", upside_down)


@mutation("theorem-2")
def blocks_are_half_as_long(monkeypatch):
    original = agents.borl.borl_schedule

    def short(space, horizon, arms):
        plan = original(space, horizon, arms)
        half = plan.block_length // 2
        return dataclasses.replace(plan, block_length=half, n_blocks=-(-horizon // half))

    monkeypatch.setattr(agents.borl, "borl_schedule", short)


@mutation("theorem-2-master")
def the_master_draws_uniformly(monkeypatch):
    original = agents.EXP3P.for_problem
    monkeypatch.setattr(agents.EXP3P, "for_problem", lambda problem: original(problem, gamma=1.0))


@mutation("theorem-2-master")
def the_master_has_no_bonus(monkeypatch):
    original = agents.EXP3P.for_problem
    monkeypatch.setattr(agents.EXP3P, "for_problem", lambda problem: original(problem, beta=0.0))


FAULTS_OF_AGENTS = [function for function, _ in MUTATIONS.values()]  # those above


# formulas ----------------------------------------------------------------------------------------------------


@mutation("error-term")
def the_order_of_theorem_1_is_halved(monkeypatch):
    scaled(monkeypatch, bounds, "theorem_1_tuned", 0.5)


@mutation("lemma-1")
def the_radii_are_a_tenth(monkeypatch):
    original = formulas.paper_radii

    def tenth(*args, **kwargs):
        return formulas.Radii(*(0.1 * radius for radius in original(*args, **kwargs)))

    monkeypatch.setattr(formulas, "paper_radii", tenth)


@mutation("lemma-1")
def the_transition_radius_lacks_the_number_of_states(monkeypatch):
    original = formulas.paper_radii

    def narrow(counts, space, *args, **kwargs):
        radii = original(counts, space, *args, **kwargs)
        return formulas.Radii(radii.reward, radii.transition / np.sqrt(space.n_states))

    monkeypatch.setattr(formulas, "paper_radii", narrow)


@mutation("proposition-7")
def the_self_normalised_bound_is_a_third(monkeypatch):
    scaled(monkeypatch, lemmas, "self_normalised", 0.3)


@mutation("proposition-1")
def the_benchmark_gap_lacks_its_correction(monkeypatch):
    original = bounds.benchmark_gap

    def printed(diameter, horizon, b_r, b_p):
        short = (b_r + 2 * diameter * b_p) * horizon < 1
        return original(diameter, horizon, b_r, b_p) - (2 * diameter if short else 0.0)

    monkeypatch.setattr(bounds, "benchmark_gap", printed)


@mutation("lemma-10")
def a_change_is_remembered_for_one_window_only(monkeypatch):
    original = lemmas.variation
    monkeypatch.setattr(lemmas, "variation", lambda *args: original(*args, factor=1.0))


@mutation("lemma-9")
def the_sum_of_precisions_is_halved(monkeypatch):
    scaled(monkeypatch, lemmas, "precision", 0.5)


@mutation("lemma-11")
def estimation_is_a_third(monkeypatch):
    scaled(monkeypatch, lemmas, "estimation", 0.33)


@mutation("lemma-12")
def the_count_of_episodes_is_halved(monkeypatch):
    scaled(monkeypatch, lemmas, "episodes", 0.5)


@mutation("theorem-1-tuned", "remark-7", "theorem-3", "theorem-4")
def the_tuned_window_has_a_wrong_exponent(monkeypatch):
    original = formulas.tuned

    def wrong(*args, **kwargs):
        choice = original(*args, **kwargs)
        return dataclasses.replace(choice, window=max(1, int(choice.window**0.9)), widening=choice.widening**0.9)

    monkeypatch.setattr(formulas, "tuned", wrong)


@mutation("theorem-2-grid")
def the_grid_lacks_its_middle(monkeypatch):
    original = formulas.borl_schedule

    def coarse(space, horizon):
        plan = original(space, horizon)
        return dataclasses.replace(plan, windows=(plan.windows[0], plan.windows[-1]))

    monkeypatch.setattr(formulas, "borl_schedule", coarse)


@mutation("theorem-2-grid")
def the_grid_has_every_other_window_only(monkeypatch):
    original = formulas.borl_schedule

    def sparse(space, horizon):
        plan = original(space, horizon)
        return dataclasses.replace(plan, windows=(*plan.windows[:-1:2], plan.windows[-1]))

    monkeypatch.setattr(formulas, "borl_schedule", sparse)


@mutation("theorem-2")
def the_order_of_borl_is_too_small(monkeypatch):
    original = bounds.theorem_2

    def small(space, horizon, *args, **kwargs):
        return original(space, horizon, *args, **kwargs) * (1.0 if kwargs else horizon**-0.25)

    monkeypatch.setattr(bounds, "theorem_2", small)


@mutation("remark-5")
def the_bandit_order_has_a_wrong_exponent(monkeypatch):
    monkeypatch.setattr(bounds, "bandit", lambda arms, t, b, explicit=False: (b * arms * t) ** (1 / 3))


# worlds and planning -----------------------------------------------------------------------------------------


@mutation("lemma-3", "lemma-6", "remark-4", "remark-2")
def variation_is_a_hundredth(monkeypatch):
    original = drifting.variation

    def small(world, reward_norm, transition_norm):
        found = original(world, reward_norm, transition_norm)
        if transition_norm != 1:
            return found
        return dataclasses.replace(
            found,
            reward=found.reward / 100,
            transition=found.transition / 100,
            reward_steps=found.reward_steps / 100,
            transition_steps=found.transition_steps / 100,
        )

    monkeypatch.setattr(drifting, "variation", small)


@mutation("lemma-2", "definition-1", "lemma-5")
def diameters_are_a_twentieth(monkeypatch):
    scaled(monkeypatch, planning, "diameter", 0.05)


@mutation("assumption-1")
def the_largest_diameter_is_not_the_largest(monkeypatch):
    scaled(monkeypatch, planning, "max_diameter", 0.9)


@mutation("proposition-4")
def diameters_are_ten_times_too_large(monkeypatch):
    scaled(monkeypatch, planning, "diameter", 10.0)


@mutation("remark-1", "lemma-4")
def the_oracle_is_one_percent_too_high(monkeypatch):
    scaled(monkeypatch, planning, "optimal_gains", 1.01)


@mutation("linear-programs")
def the_linear_program_is_off(monkeypatch):
    original = planning.gain_by_linear_program

    def off(mdp, form):
        found = original(mdp, form)
        return dataclasses.replace(found, gain=found.gain + 1e-3)

    monkeypatch.setattr(planning, "gain_by_linear_program", off)


@mutation("evi-convergence")
def planning_stops_too_early(monkeypatch):
    original = planning.extended_value_iteration
    monkeypatch.setattr(
        planning, "extended_value_iteration", lambda *args, **kwargs: original(*args[:-1], 100 * args[-1], **kwargs)
    )


@mutation("assumption-2", "assumption-3", "lemma-13", "remark-10")
def demand_has_no_floor(monkeypatch):
    original = problems.inventory

    def bare(*given, **parameters):
        asked = inspect.signature(original).bind(*given, **parameters)
        zeta = asked.arguments["zeta"]
        problem = original(**asked.arguments | {"zeta": 0.0})
        object.__setattr__(problem, "zeta", zeta)
        return problem

    monkeypatch.setattr(problems, "inventory", bare)


@mutation("proposition-6")
def costs_are_shifted_by_half_of_the_lost_sales(monkeypatch):
    shift = property(lambda self: 0.5 * self.costs.lost_sale * self.expected_demand)
    monkeypatch.setattr(problems.InventoryProblem, "cost_shift", shift)


@mutation("lemma-7")
def the_cover_ends_before_the_window_does(monkeypatch):
    def short(self):
        covered = np.zeros(self.starts.size, np.bool_)
        covered[self.q_set] = True
        return covered

    monkeypatch.setattr(RunTrace, "q_cover", property(short))


@mutation("lemma-8")
def lost_episodes_cost_next_to_nothing(monkeypatch):
    scaled(monkeypatch, lemmas, "lost_episodes", 0.0)
