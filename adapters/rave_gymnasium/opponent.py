"""``Opponent-v0``: a two-player game as a single-agent environment with an agent as opponent."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rave_agents.agents.named_agents import AgentSpec, make_agent
from rave_agents.arena.openings import draw_outcome
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, load_game, seeded_start
from rave_agents.frameworks.agent import Agent
from rave_agents.game.arguments import unknown_name
from rave_agents.game.game_state import GameState

SEATS = (0, 1, "random")
ILLEGAL = ("raise", "lose")


class OpponentEnv(gymnasium.Env):  # type: ignore[misc]
    """A two-player game in which one of this package's agents plays the opponent.

    ::

        env = gymnasium.make("rave_gymnasium:Opponent-v0", game="connect_four",
                             opponent="rave(simulations=100)", seat="random")
        observation, info = env.reset(seed=1)
        action = env.action_space.sample(mask=info["action_mask"])

    A step plays the learner's action, then chance and the opponent until it is the learner's turn
    again. The reward is what the step added to the learner's return: in most games 0 until the end,
    then the result. The observation is the game's own, from the learner's perspective where the
    game has one. ``info["action_mask"]`` (int8) marks the legal actions, ``info["seat"]`` is the
    learner's seat. Equal seeds give equal episodes under equal actions; another seed gives other
    chance outcomes.

    Args:
        game: a game for two players by its name, such as ``"connect_four"``,
            ``"hex(board_size=5)"`` or ``"pettingzoo:connect_four_v3"``.
        opponent: the spec of an agent, such as ``"rave(simulations=100)"`` or ``"random"``.
        seat: the learner's seat, 0 or 1, or ``"random"`` for a new draw in each episode.
        illegal: the effect of an illegal action: ``"raise"`` raises a ValueError; ``"lose"`` ends
            the episode with the game's least utility (-1 where it states none) and
            ``info["illegal_action"]``.
        render_mode: ``"ansi"`` or None.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players, an agent cannot play it, or it has
            no observation.
        TypeError, ValueError: for a value that is not allowed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        game: str | Game = "connect_four",
        opponent: str | AgentSpec = "rave(simulations=100)",
        seat: int | str = "random",
        illegal: str = "raise",
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(game, str) and not hasattr(game, "new_initial_state"):
            raise TypeError(f"game must be a game's name such as 'connect_four', got {game!r}.")
        if not isinstance(opponent, str | AgentSpec):
            raise TypeError(
                "opponent must be an agent's spec such as 'rave(simulations=100)', got "
                f"{opponent!r}."
            )
        self.game: Game = load_game(game) if isinstance(game, str) else game
        """The game."""
        if self.game.num_players != 2:
            raise UnsupportedGameError(
                f"game must have two players; {self.game.name} has {self.game.num_players}."
            )
        if isinstance(seat, bool) or seat not in SEATS:
            raise ValueError(f"seat must be 0, 1 or 'random', got {seat!r}.")
        if illegal not in ILLEGAL:
            raise ValueError(unknown_name("illegal", illegal, ILLEGAL))
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode must be None or 'ansi', got {render_mode!r}.")
        self.opponent: AgentSpec = (
            AgentSpec.parse(opponent) if isinstance(opponent, str) else opponent
        )
        """The opponent's spec."""
        self.seat = seat
        """The learner's seat as given: 0, 1 or ``"random"``."""
        self.illegal = illegal
        """The effect of an illegal action: ``"raise"`` or ``"lose"``."""
        self.render_mode = render_mode
        for player in (0, 1):
            make_agent(self.opponent, self.game, player)
        state = self.game.new_initial_state()
        self.action_space: Any = spaces.Discrete(state.num_distinct_actions())
        shape = _observation(state, 0, self.game.name).shape
        limits = np.finfo(np.float32)
        self.observation_space: Any = spaces.Box(limits.min, limits.max, shape, np.float32)
        self._state: GameState | None = None
        self._agent: Agent | None = None
        self._seat = 0
        self._return = 0.0
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new game; the opponent moves first if seat 0 is theirs."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2))
        self._seat = drawn if self.seat == "random" else int(self.seat)
        own = self.opponent.with_defaults({"seed": int(self.np_random.integers(2**31))})
        self._agent = make_agent(own, self.game, 1 - self._seat)
        self._agent.restart()
        self._state = seeded_start(self.game, lambda: int(self.np_random.integers(2**31)))
        self._return = 0.0
        self._over = False
        self._play_on()
        return self._observed(), self._info()

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play an action, then chance's and the opponent's moves.

        Raises:
            ValueError: for an action that is not legal, if ``illegal`` is ``"raise"``.
            TypeError: if ``action`` is not an integer.
            RuntimeError: before ``reset``, or after the end.
        """
        if self._state is None or self._over:
            raise RuntimeError("The game is over or has not begun: call reset() first.")
        legal = list(self._state.legal_actions())
        chosen = _as_action(action)
        if chosen not in legal:
            return self._illegal(action, legal)
        self._apply(chosen)
        self._play_on()
        total = float(self._state.returns()[self._seat])
        reward, self._return = total - self._return, total
        self._over = self._state.is_terminal()
        return self._observed(), reward, self._over, False, self._info()

    def _illegal(
        self, action: Any, legal: list[int]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        assert self._state is not None
        if self.illegal == "raise":
            raise ValueError(f"Action {action} is illegal; the legal actions are {legal}.")
        self._over = True
        least = self._state.min_utility()
        reward = least if np.isfinite(least) else -1.0
        info = {**self._info(), "illegal_action": True}
        return self._observed(), float(reward), True, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of legal actions, under the name that sb3-contrib's algorithms call."""
        return self._mask().astype(bool)

    def render(self) -> str | None:
        """Return the position as text."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode='ansi'.")
            return None
        return "" if self._state is None else str(self._state)

    def _play_on(self) -> None:
        """Play for chance and the opponent until it is the learner's turn, or the end."""
        state, agent = self._state, self._agent
        assert state is not None
        assert agent is not None
        while not state.is_terminal() and state.current_player() != self._seat:
            if state.is_chance_node():
                self._apply(draw_outcome(state, self.np_random))
            else:
                self._apply(agent.step(state.clone()))

    def _apply(self, action: int) -> None:
        assert self._state is not None
        assert self._agent is not None
        self._agent.inform_action(self._state, int(self._state.current_player()), action)
        self._state.apply_action(action)

    def _observed(self) -> NDArray[np.float32]:
        assert self._state is not None
        return _observation(self._state, self._seat, self.game.name)

    def _mask(self) -> NDArray[np.int8]:
        mask = np.zeros(int(self.action_space.n), np.int8)
        if self._state is not None and not self._over and not self._state.is_terminal():
            mask[list(self._state.legal_actions())] = 1
        return mask

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask(), "seat": self._seat}


def _as_action(action: Any) -> int:
    """Convert an action to an int: a Python or NumPy integer, or an array of one integer."""
    number = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TypeError(f"action must be an integer, got {action!r}.")
    return int(number)


def _observation(state: GameState, player: int, game: str) -> NDArray[np.float32]:
    observe = getattr(state, "observation", None)
    if observe is None:
        raise UnsupportedGameError(
            f"{game} has no observation: its states lack the method observation(player)."
        )
    return np.array(observe(player), np.float32)
