"""Many games of ``Opponent-v0``, stepped in one process without wrappers in between."""

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rave_agents.frameworks.own_games import as_game
from rave_agents.game.validation import Count, validated
from rave_gymnasium.opponent import as_action
from rave_gymnasium.opponent_game import (
    Illegal,
    Observation,
    OpponentGame,
    SeatChoice,
    illegal_action,
)
from rave_gymnasium.opponents import Loader


class OpponentVectorEnv(VectorEnv):  # type: ignore[misc]
    """``num_envs`` games at the same time, each with an opponent of its own.

    ::

        envs = gymnasium.make_vec("rave_gymnasium:Opponent-v0", num_envs=64,
                                  vectorization_mode="vector_entry_point", game="connect_four")

    A game that has ended begins anew with the next step, whose action for it is ignored and whose
    reward is 0 (``AutoresetMode.NEXT_STEP``). ``infos["action_mask"]`` has a row for each game.

    Args:
        num_envs: the number of games, at least 1.
        game: with ``opponent``, ``seat``, ``illegal``, ``observation`` and ``load`` as for
            ``OpponentEnv``.
        render_mode: None; pictures need a single environment.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if ``OpponentEnv`` does not take the game.
        TypeError, ValueError: for a value that is not allowed.
    """

    num_envs: int
    single_action_space: Space[Any]
    single_observation_space: Space[Any]
    action_space: Space[Any]
    observation_space: Space[Any]
    render_mode: str | None

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    @validated
    def __init__(
        self,
        num_envs: Count = 1,
        game: Any = "connect_four",
        opponent: Any = "auto(simulations=100)",
        seat: SeatChoice = "random",
        illegal: Illegal = "raise",
        render_mode: str | None = None,
        observation: Observation = "game",
        load: Loader | None = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError("render_mode must be None: make a single environment for pictures.")
        loaded = as_game(game)  # Once: loading may compile rules.
        self.num_envs = num_envs
        self.games: list[OpponentGame] = [
            OpponentGame(loaded, opponent, seat, illegal, observation, load, None)
            for _ in range(self.num_envs)
        ]
        """The games."""
        self.single_action_space = self.games[0].action_space
        self.single_observation_space = self.games[0].observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.render_mode = None
        self._randoms: list[np.random.Generator] = []
        space = self.single_observation_space
        self._seen = np.zeros((self.num_envs, *space.shape), space.dtype)
        self._masks = np.zeros((self.num_envs, int(self.single_action_space.n)), np.int8)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all games anew; game i is seeded by ``seed + i``."""
        if seed is not None or not self._randoms:
            given = (
                seed
                if isinstance(seed, list)
                else [None if seed is None else seed + i for i in range(self.num_envs)]
            )
            self._randoms = [np.random.default_rng(each) for each in given]
        for index in range(self.num_envs):
            self._begin(index, options)
        # Copies: callers keep observations, and the buffers are written in place at each step.
        return self._seen.copy(), self._infos()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play an action in each game; games that are over begin anew.

        Raises:
            ValueError: if there is not one action for each game; for an action that is not legal,
                if ``illegal`` is ``"raise"``; or if the opponent's is not.
            TypeError: if an action is not an integer.
            RuntimeError: before ``reset``.
        """
        if not self._randoms:
            raise RuntimeError("The games have not begun: call reset() first.")
        chosen = self._checked(actions)
        rewards = np.zeros(self.num_envs, np.float64)
        ended = np.zeros(self.num_envs, np.bool_)
        illegal = np.zeros(self.num_envs, np.bool_)
        for index, game in enumerate(self.games):
            # NEXT_STEP: the last step returned the final observation; this one returns the first.
            if game.over:
                self._begin(index, None)
                continue
            if chosen[index] in game.legal():
                rewards[index] = game.play(chosen[index])
            else:
                rewards[index] = game.lose()
                illegal[index] = True
            ended[index] = game.over
            self._look(index)
        infos = self._infos()
        if illegal.any():
            infos["illegal_action"] = infos["_illegal_action"] = illegal
        cut = np.zeros(self.num_envs, np.bool_)
        return self._seen.copy(), rewards, ended, cut, infos

    def _checked(self, actions: Any) -> list[int]:
        """An action for each game, all of them checked before the first is played."""
        if len(actions) != self.num_envs:
            raise ValueError(
                f"actions must be one for each of {self.num_envs} games, got {len(actions)}."
            )
        chosen = [as_action(action) for action in actions]
        for index, (action, game) in enumerate(zip(chosen, self.games, strict=True)):
            if game.illegal == "raise" and not game.over and action not in game.legal():
                raise ValueError(illegal_action(f"{action} of game {index}", game.legal()))
        return chosen

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of all games, a row for each."""
        return self._masks.astype(bool)

    def _begin(self, index: int, options: dict[str, Any] | None) -> None:
        self.games[index].begin(self._randoms[index], options)
        self._look(index)

    def _look(self, index: int) -> None:
        game = self.games[index]
        self._seen[index] = game.seen()
        row = self._masks[index]
        row[:] = 0
        row[game.legal()] = 1

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self._masks.copy(),
            "_action_mask": everyone,
            "seat": np.array([game.learner for game in self.games]),
            "_seat": everyone,
        }
