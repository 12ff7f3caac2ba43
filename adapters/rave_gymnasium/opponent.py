"""``Opponent-v0``: a two-player game as a single-agent environment with an opponent."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import validated
from rave_gymnasium.opponent_game import (
    Illegal,
    Observation,
    OpponentGame,
    SeatChoice,
    illegal_action,
)
from rave_gymnasium.opponents import Loader

RENDER_MODES = ("ansi", "rgb_array", "human")


class OpponentEnv(gymnasium.Env):  # type: ignore[misc]
    """A two-player game in which an agent or a policy plays the opponent.

    ::

        env = gymnasium.make("rave_gymnasium:Opponent-v0", game="connect_four",
                             opponent="rave(simulations=100)", seat="random")
        observation, info = env.reset(seed=1)
        action = env.action_space.sample(mask=info["action_mask"])

    A step plays the learner's action, then chance and the opponent until it is the learner's turn
    again; where players move at the same time, the opponent's action with it. The reward is what
    the step added to the learner's return: in most games 0 until the end, then the result.
    ``info["action_mask"]`` (int8) marks the legal actions, ``info["seat"]`` is the learner's seat.
    Equal seeds give equal episodes under equal actions; another seed gives other chance outcomes.

    ``reset(options={"opponent": ...})`` changes the opponent from that game on, and
    ``reset(options={"seat": ...})`` the seat.

    Args:
        game: a game for two players or its name, such as ``"connect_four"``,
            ``"pettingzoo:connect_four_v3"`` or ``"./nim.py:Nim"``; see ``as_game``.
        opponent: an agent of any kind: a spec, such as ``"auto(simulations=100)"`` or ``"random"``,
            ``"./bots.py:Greedy"``, a function such as ``policy(observation, mask)``, a bot or a
            model, see ``rave_agents.as_agent``; a folder of checkpoints, whose path has a slash or
            is a ``pathlib.Path``; or a list of these. Each game draws one of the list, and one of
            the checkpoints that a folder then has.
        seat: the learner's seat, 0 or 1, or ``"random"`` for a new draw in each episode.
        illegal: the effect of an illegal action: ``"raise"`` raises a ValueError; ``"lose"`` ends
            the episode with the game's least utility (-1 where it states none) and
            ``info["illegal_action"]``.
        render_mode: ``"ansi"``, or, for games that PettingZoo draws, ``"rgb_array"`` or
            ``"human"``, a window; None for no pictures.
        observation: ``"game"`` for the game's own, float32, from the perspective of the learner
            where it has one; ``"pettingzoo"`` for that of PettingZoo's environment without its
            mask, so that models can play in both.
        load: a function that makes a policy from a checkpoint's path; None for models of
            Stable-Baselines3 and sb3-contrib (``*.zip``).

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players, an agent cannot play it, it has no
            observation, or PettingZoo does not draw it.
        TypeError, ValueError: for a value that is not allowed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    @validated
    def __init__(
        self,
        game: Any = "connect_four",
        opponent: Any = "auto(simulations=100)",
        seat: SeatChoice = "random",
        illegal: Illegal = "raise",
        render_mode: str | None = None,
        observation: Observation = "game",
        load: Loader | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode must be None or one of {list(RENDER_MODES)}, got {render_mode!r}."
            )
        self._game = OpponentGame(game, opponent, seat, illegal, observation, load, render_mode)
        self.game: Game = self._game.game
        """The game."""
        self.render_mode = render_mode
        self.action_space: Any = self._game.action_space
        self.observation_space: Any = self._game.observation_space

    @property
    def state(self) -> GameState | None:
        """A copy of the position; None before ``reset``."""
        return None if self._game.state is None else self._game.state.clone()

    @property
    def opponent(self) -> str | None:
        """The name of the opponent in this game; None before ``reset``."""
        return None if self._game.opponent is None else self._game.opponent.name

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new game; the opponent moves first if seat 0 is theirs.

        Args:
            seed: seeds everything random from now on; None to go on.
            options: ``"opponent"`` and ``"seat"``, as for the constructor; they hold from now on.

        Raises:
            UnknownNameError: for another option.
            TypeError, ValueError: for a value that is not allowed.
        """
        super().reset(seed=seed)
        self._game.begin(self.np_random, options)
        return self._game.seen(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, then chance's and the opponent's moves.

        Raises:
            ValueError: for an action that is not legal, if ``illegal`` is ``"raise"``; or if the
                opponent's is not.
            TypeError: if ``action`` is not an integer.
            RuntimeError: before ``reset``, or after the end.
        """
        game = self._game
        if game.state is None or game.over:
            raise RuntimeError("The game is over or has not begun: call reset() first.")
        legal = game.legal()
        chosen = as_action(action)
        if chosen in legal:
            reward = game.play(chosen)
            return game.seen(), reward, game.over, False, self._info()
        if game.illegal == "raise":
            raise ValueError(illegal_action(str(action), legal))
        # The position stays: the learner sees where the illegal action was.
        reward = game.lose()
        return game.seen(), reward, True, False, {**self._info(), "illegal_action": True}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of legal actions, under the name that sb3-contrib's algorithms call."""
        return self._game.mask().astype(bool)

    def render(self) -> Any:
        """Return the position as text or as an array of pixels; None for a window."""
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() needs a render_mode, one of {list(RENDER_MODES)}.")
            return None
        if self.render_mode == "ansi":
            return "" if self._game.state is None else str(self._game.state)
        if self._game.state is None:
            raise RuntimeError("There is nothing to draw yet: call reset() first.")
        return self._game.mirror.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._game.mirror is not None:
            self._game.mirror.close()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._game.mask(), "seat": self._game.learner}


def as_action(action: Any) -> int:
    """Convert an action to an int: a Python or NumPy integer, or an array of one integer.

    Raises:
        TypeError: for anything else.
    """
    number = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TypeError(f"action must be an integer, got {action!r}.")
    return int(number)
