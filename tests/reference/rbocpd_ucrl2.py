"""R-BOCPD-UCRL2 of Alami, Mahfoud and Moulines (2023): UCRL2 that starts again when next states have changed."""

from tests.reference.detecting import Detecting, forgetful
from tests.reference.detectors import RunLength
from tests.reference.optimists import UCRL2


class RBOCPDUCRL2(Detecting):
    """Each pair has a forecaster per run length, over all S next states. On an alarm of any all is forgotten."""

    def __init__(
        self, n_actions, horizon, *, rng, hazard=None, watch="next-states", reward_range=(0.0, 1.0), **options
    ):
        detector = RunLength(1 / horizon if hazard is None else hazard, len(n_actions), 0.2, "all")
        learner = forgetful(UCRL2)
        super().__init__(
            n_actions,
            lambda seed: learner(n_actions, horizon, reward_range=reward_range, **options),
            detector,
            rng=rng,
            watch=watch,
            reward_range=reward_range,
        )
