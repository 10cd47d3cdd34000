"""The base class of agents whose compiled run a detector may watch, see kernels/detection.py."""

from abc import abstractmethod
from typing import ClassVar

from driftmdp.agents.base import ResumableAgent, RunContext


class WatchableAgent(ResumableAgent):
    """An agent whose compiled run stops where compiled code cannot go on, or where a watch fires."""

    can_be_watched: ClassVar[bool] = False  # whether ``_play_some`` takes a watch too

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        while first < last:
            first, status = self._play_some(context, first, last)
            if first < last:
                self._continue(status)

    @abstractmethod
    def _play_some(self, context: RunContext, first: int, last: int) -> tuple[int, int]:
        """Play rows until compiled code is done or cannot go on. Return the next row and why it stopped."""

    def _continue(self, status: int) -> None:
        """Do what compiled code asks for by its status. Without a watch most runs never ask."""
