"""The arrays of a batch, which simulations write and an evaluator reads."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.evaluators.leaves import (
    COMMON_LENGTH,
    FIRST_OBSERVATION,
    LOGITS,
    NEXT_ROW,
    STEP,
    Answers,
)
from rave_agents.game.utility_limits import UtilityLimits
from rave_agents.simulate.evaluations import (
    CLIP,
    FINE,
    LIMITS_LENGTH,
    OWN,
    ROWS,
    BatchAnswer,
    batch_refusal,
    check_batch,
    checked_arrays,
)


class Batch(NamedTuple):
    """Positions for an evaluator, one per row."""

    observations: NDArray[np.float32]
    """[B, ...] the observations of the players to move, in the game's shape."""
    legal_actions_mask: NDArray[np.bool_]
    """[B, A] whether each of the game's distinct actions is legal."""
    players: NDArray[np.int64]
    """[B] the players to move."""


class BatchArrays:
    """Memory for a batch.

    Args:
        rows: its capacity in positions.
        observation_shape: the shape of one observation.
        num_actions: the game's number of distinct actions.
        num_players: its number of players.
        logits: True if the evaluator answers with logits.
        cache: the evaluator's cached answers.
    """

    def __init__(
        self,
        rows: int,
        observation_shape: Sequence[int],
        *,
        num_actions: int,
        num_players: int,
        logits: bool,
        cache: EvaluationCache,
    ) -> None:
        self.observations: NDArray[np.float32] = np.zeros((rows, *observation_shape), np.float32)
        self._masks = np.zeros((rows, num_actions), np.int8)
        self._players = np.zeros(rows, np.int64)
        self.policy: NDArray[np.float64] = np.zeros((rows, num_actions))
        """[rows, actions] the evaluator's answer."""
        self.values: NDArray[np.float64] = np.zeros((rows, num_players))
        """[rows, players] its values."""
        self._common = np.zeros(COMMON_LENGTH, np.int64)
        self._common[FIRST_OBSERVATION] = self.observations.ctypes.data
        self._common[LOGITS] = logits
        self._answer = BatchAnswer(
            self._masks.reshape(-1),
            self._players,
            self.policy.reshape(-1),
            self.values.reshape(-1),
            own_values=np.zeros(rows),
            limits=np.zeros(LIMITS_LENGTH),
            sizes=np.array([0, num_actions, num_players, 0, logits, 0]),
            found=np.zeros(2),
        )
        self._limits: UtilityLimits | None = None
        self._check: Callable[[int], int] | None = None
        self.cache = cache

    @property
    def shape(self) -> tuple[tuple[int, ...], int, int]:
        """The shape of one observation, and the numbers of actions and players."""
        return self.observations.shape[1:], self._masks.shape[1], self.values.shape[1]

    @property
    def rows(self) -> int:
        """Capacity in positions."""
        return len(self._players)

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return int(self._common[NEXT_ROW])

    def clear(self) -> None:
        """Free all rows."""
        self._common[NEXT_ROW] = 0

    def begin(self, step: int) -> None:
        """Set the searches' next command, see ``leaves.py``."""
        self._common[STEP] = step

    def asked(self) -> Batch:
        """The rows in use, copied: the evaluator may keep and change them."""
        count = self.count
        return Batch(
            self.observations[:count].copy(),
            self._masks[:count].view(np.bool_).copy(),
            self._players[:count].copy(),
        )

    def take(
        self, source: str, answer: Any, limits: UtilityLimits, *, clip: bool, policy: bool = True
    ) -> None:
        """Write an evaluator's answer to the rows in use.

        Args:
            source: the evaluator's name for messages.
            answer: the policy [B, actions], and the values [B, players] or [B].
            limits: the game's utilities.
            clip: True to move values into the utilities.
            policy: False for an evaluator without policy: all legal actions get equal priors.

        Raises:
            GameError: if a search cannot use it.
        """
        count, check = self.count, self._check or self.bind()
        shape = self._masks[:count].shape
        given, values, own = checked_arrays(source, answer, shape, limits, policy=policy)
        self.policy[:count] = 1.0 if given is None else given
        (self._answer.own_values if own else self.values)[:count] = values
        if limits is not self._limits:  # Another game: rare.
            bounds = limits.least, limits.greatest, limits.low, limits.high
            self._answer.limits[:] = *bounds, limits.sum_of_two
            self._limits = limits
        sizes = self._answer.sizes
        sizes[ROWS], sizes[OWN], sizes[CLIP] = count, own, clip
        wrong = check(0)
        if wrong != FINE:
            raise batch_refusal(source, self._answer, wrong)

    def bind(self) -> Callable[[int], int]:
        """Compile and return the check of ``take``."""
        self._check = check_batch.bound(self._answer)
        return self._check

    def answers(self) -> Answers:
        """The arrays for compiled code."""
        return Answers(
            self.observations.reshape(-1).view(np.int32),
            self._masks.reshape(-1),
            self._players,
            self.policy.reshape(-1),
            self.values.reshape(-1),
            self._common,
        )
