"""Detecting(learner, detector): a learner that is restarted when a detector alarms on what its pairs showed.

`make_learner(seed)` gives a fresh learner. Its `observe` gets the action really taken. For restart="pairs" it has a
method `forget(pair)`; `forgetful` gives one to the optimists of this package.
"""

import math


class Detecting:
    """Streams are kept whole, `rewards[s, a]` and `next_states[s, a]` since the last restart."""

    def __init__(
        self,
        n_actions,
        make_learner,
        detector,
        *,
        rng,
        watch="both",
        restart="all",
        exploration=0.0,
        reward_range=(0.0, 1.0),
    ):
        self.n_actions = list(n_actions)
        self.make_learner = make_learner
        self.detector = detector
        self.watch = watch
        self.restart = restart
        self.exploration = exploration
        self.low, high = reward_range
        self.width = high - self.low if high > self.low else 1.0
        self.rng = rng
        self.visits = [0] * len(self.n_actions)
        self.alarms = []
        self.t = 1
        self.start_again()

    def start_again(self):
        self.learner = self.make_learner(int(self.rng.integers(2**63)))
        self.rewards, self.next_states = {}, {}

    def act(self, state):
        action = self.learner.act(state)
        visit = self.visits[state] + 1
        if self.exploration > 0:
            period = math.ceil(1 / self.exploration)
            if visit % period == 0:
                action = (visit // period - 1) % self.n_actions[state]
        self.doing = (state, action)
        return action

    def observe(self, reward, next_state, action=None):
        pair = self.doing if action is None else (self.doing[0], action)
        self.learner.observe(reward, next_state, action=pair[1])
        self.visits[pair[0]] += 1
        found = self.alarming_stream(pair, reward, next_state)
        if found is not None:
            self.alarms.append((self.t, pair, found))
            if self.restart == "all":
                self.start_again()
            else:
                self.learner.forget(pair)
                self.rewards.pop(pair, None)
                self.next_states.pop(pair, None)
        self.t += 1

    def n_streams(self):
        """How many streams have an observation since their last restart."""
        return len(self.rewards) + len(self.next_states)

    def alarming_stream(self, pair, reward, next_state):
        if self.watch in ("rewards", "both"):
            seen = self.rewards.setdefault(pair, [])
            seen.append(min(1.0, max(0.0, (reward - self.low) / self.width)))
            if self.detector.rewards_alarm(seen, self.n_streams()):
                return "rewards"
        if self.watch in ("next-states", "both"):
            seen = self.next_states.setdefault(pair, [])
            seen.append(next_state)
            if self.detector.states_alarm(seen, self.n_streams()):
                return "next-states"
        return None


def forgetful(optimist, window_by_time=False):
    """The class of an optimist of this package that can forget a pair, and is told the action really taken.

    A window of W steps that has forgotten some holds fewer, and drops none until it has W again. With
    `window_by_time` it drops every step when it is W steps old.
    """

    class Forgetful(optimist):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.kept = []
            self.is_stale = False

        def forget(self, pair):
            self.kept = [number for number in self.kept if self.steps[number][:2] != pair]
            self.is_stale = True

        def remembered(self):
            first = self.first_remembered(self.t) - 1 if self.drops_by_time() else 0
            return [self.steps[number] for number in self.kept if number >= first]

        def drops_by_time(self):
            return window_by_time or not hasattr(self, "window")

        def episode_is_over(self, state):
            return self.is_stale or super().episode_is_over(state)

        def start_episode(self):
            self.is_stale = False
            super().start_episode()

        def observe(self, reward, next_state, action=None):
            state, advised = self.doing
            self.doing = (state, advised if action is None else action)
            super().observe(reward, next_state)
            self.kept.append(len(self.steps) - 1)
            if not self.drops_by_time() and len(self.kept) > self.window:
                self.kept.pop(0)

    return Forgetful
