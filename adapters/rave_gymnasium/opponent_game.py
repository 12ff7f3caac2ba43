"""One game of two players between a learner and its opponent, without an interface of Gymnasium."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rave_agents.agents.answers import is_allowed
from rave_agents.config.specs import parse_call, split_call
from rave_agents.errors import GameError, UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game, GameAbilities, load_game, seeded_start
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import check_names
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import (
    GameState,
    has_simultaneous_moves,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.game.validation import checked, validated
from rave_agents.records.openings import draw_outcome
from rave_gymnasium.opponents import Loader, Opponent, Opponents

SeatChoice = Literal[0, 1, "random"]
"""The learner's seat."""
Illegal = Literal["raise", "lose"]
"""The effect of an illegal action of the learner's."""
Observation = Literal["game", "pettingzoo"]
"""The form of observations."""
MOST_MASKED = 2**27
"""Largest number of actions: a mask with a byte for each is made at every move."""
_MOST_BEGINNINGS = 1000
"""Games begun in one reset, if each is over before the learner's turn."""
OPTIONS = ("opponent", "seat")
"""Keys of ``reset(options=...)``."""

_TWINS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "connect_four": ("connect_four_v3", {}),
    "go": ("go_v5", {"board_size": 19, "komi": 7.5}),
    "tic_tac_toe": ("tictactoe_v3", {}),
}
"""OpenSpiel's games that PettingZoo has with the same actions, and the parameters of both."""


class OpponentGame:
    """A game between a learner and an opponent; see ``OpponentEnv`` for the arguments."""

    @validated
    def __init__(
        self,
        game: Any,
        opponent: Any,
        seat: SeatChoice,
        illegal: Illegal,
        observation: Observation,
        load: Loader | None,
        render_mode: str | None,
    ) -> None:
        self.game: Game = as_game(game)
        if self.game.num_players != 2:
            raise UnsupportedGameError(
                f"game must have two players; {self.game.name} has {self.game.num_players}."
            )
        self.seat: Any = seat
        self.illegal = illegal
        drawn = render_mode in ("rgb_array", "human")
        self.mirror: Any = None
        """PettingZoo's environment that mirrors the game, to draw it or to show it."""
        self._zoo = observation == "pettingzoo"
        if drawn or self._zoo:
            self.mirror = mirror(self.game, render_mode if drawn else None)
        self._load = load
        self.opponents: Any = Opponents(opponent, self.game, self.observe, load)
        start = self.game.new_initial_state()
        actions = start.num_distinct_actions()
        if actions > MOST_MASKED:
            raise UnsupportedGameError(
                f"num_distinct_actions() of {self.game.name} is {actions}, and the masks of an "
                f"environment have room for at most {MOST_MASKED} actions."
            )
        self.action_space: Any = spaces.Discrete(actions)
        self.observation_space: Any = self._space(start)
        self._may_move_together = has_simultaneous_moves(start)
        self.state: GameState | None = None
        self.opponent: Opponent | None = None
        self.learner: int = 0
        """The learner's seat in this game."""
        self.over: bool = True
        self._legal: list[int] | None = None
        self._return = 0.0

    def _space(self, start: GameState) -> Any:
        if self._zoo:
            return self.mirror.observation_space(0)
        limits = np.finfo(np.float32)
        shape = self.observe(start, 0).shape
        return spaces.Box(limits.min, limits.max, shape, np.float32)

    def begin(self, random: np.random.Generator, options: Mapping[str, Any] | None) -> None:
        """Begin a game, to the learner's first turn.

        Games that end before it are skipped: Gymnasium's ``reset`` cannot report an end.

        Raises:
            UnknownNameError: for an unknown option.
            GameError: if game after game is over before the learner has a turn.
            TypeError, ValueError: for a value of an option that is not allowed.
        """
        options = options or {}
        check_names("option of reset", options, OPTIONS, UnknownNameError)
        if "opponent" in options:
            self.opponents = Opponents(options["opponent"], self.game, self.observe, self._load)
        if "seat" in options:
            self.seat = checked("seat", SeatChoice, options["seat"])
        # Drawn even with a fixed seat, so that the seat does not change other random choices.
        drawn = int(random.integers(2))
        self.learner = drawn if self.seat == "random" else int(self.seat)
        self.opponent = self.opponents.draw(random, 1 - self.learner)
        self._random = random
        for _ in range(_MOST_BEGINNINGS):
            self._begin_once(self.opponent)
            if not self.over:
                return
        raise GameError(
            f"{_MOST_BEGINNINGS} games of {self.game.name} were over before seat {self.learner}, "
            "the learner's, had a turn: give another seat or another opponent."
        )

    def _begin_once(self, opponent: Opponent) -> None:
        opponent.restart()
        seeds: list[int] = []

        def seed() -> int:
            seeds.append(int(self._random.integers(2**31)))
            return seeds[-1]

        self.state = seeded_start(self.game, seed)
        if self.mirror is not None:
            self.mirror.reset(seeds[0] if seeds else 0)
        self._return = 0.0
        self.over = False
        self._play_on()
        self._legal = None
        self.over = self.state.is_terminal()

    def legal(self) -> list[int]:
        """The learner's legal actions; none after the end."""
        if self._legal is None:
            state = self.state
            if state is None or self.over or state.is_terminal():
                self._legal = []
            else:
                self._legal = list(self._legal_of(state, self.learner))
        return self._legal

    def play(self, action: int) -> float:
        """Play the learner's legal action and all moves until its next turn; return the reward."""
        state, opponent = self.state, self.opponent
        assert state is not None
        assert opponent is not None
        if self._all_move(state):
            self._apply_all(state, opponent, action)
        else:
            self._apply(state, opponent, self.learner, action)
        self._play_on()
        # The difference, since returns accumulate; summed rewards equal the final return.
        total = float(state.returns()[self.learner])
        reward, self._return = total - self._return, total
        self._legal = None
        self.over = state.is_terminal()
        return reward

    def lose(self) -> float:
        """End the game, as lost by an illegal action; return the reward."""
        assert self.state is not None
        self.over = True
        self._legal = None
        least = float(self.state.min_utility())
        return least if np.isfinite(least) else -1.0

    def seen(self) -> Any:
        """The learner's observation."""
        assert self.state is not None
        return self.observe(self.state, self.learner)

    def mask(self) -> NDArray[np.int8]:
        """1 for each legal action of the learner."""
        mask = np.zeros(int(self.action_space.n), np.int8)
        mask[self.legal()] = 1
        return mask

    def observe(self, state: GameState, player: int) -> Any:
        """A seat's observation of a state."""
        if self._zoo:
            return np.array(self.mirror.observation(player))
        observe = StateAbilities(state).observation
        if observe is None:
            raise UnsupportedGameError(
                f"{self.game.name} has no observation: its states lack the method "
                "observation(player)."
            )
        return np.array(observe(player), np.float32)

    def _play_on(self) -> None:
        """Play for chance and the opponent until it is the learner's turn, or the end."""
        state, opponent = self.state, self.opponent
        assert state is not None
        assert opponent is not None
        for _ in until_over(state):
            if state.current_player() == self.learner:
                return
            if state.is_chance_node():
                outcome = draw_outcome(state, self._random)
                self._apply(state, opponent, int(state.current_player()), outcome)
            elif not self._all_move(state):
                player = int(state.current_player())
                self._apply(state, opponent, player, self._opponents_action(state, opponent))
            # Some have no action at a joint move: the opponent may then move alone.
            elif self.learner in moving_players(state):
                return
            else:
                self._apply_all(state, opponent, None)

    def _all_move(self, state: GameState) -> bool:
        return self._may_move_together and is_simultaneous(state)

    def _legal_of(self, state: GameState, player: int) -> Sequence[int]:
        if self._may_move_together:
            return legal_actions_of(state, player)
        return state.legal_actions()

    def _apply(self, state: GameState, opponent: Opponent, player: int, action: int) -> None:
        opponent.saw(state, player, action)  # Before it is applied, as agents expect.
        state.apply_action(action)
        if self.mirror is not None:
            self.mirror.step(action)

    def _apply_all(self, state: Any, opponent: Opponent, action: int | None) -> None:
        """Play the learner's and the opponent's actions at the same time."""
        movers = moving_players(state)
        chosen = [
            action if player == self.learner else self._opponents_action(state, opponent)
            for player in movers
        ]
        joint = joint_action(movers, chosen, 2)  # type: ignore[arg-type]
        opponent.saw_all(state, joint)
        state.apply_actions(joint)

    def _opponents_action(self, state: GameState, opponent: Opponent) -> int:
        action = opponent.choose(state)
        legal = self._legal_of(state, 1 - self.learner)
        if not is_allowed(action, None, int(self.action_space.n)) or action not in legal:
            raise ValueError(
                f"The opponent {opponent.name} chose {action!r}, which is illegal; the legal "
                f"actions are {list(legal)}."
            )
        return int(action)


def mirror(game: Game, render_mode: str | None) -> Any:
    """Return PettingZoo's environment of a game, which mirrors it.

    Raises:
        UnsupportedGameError: if PettingZoo has no such game, or does not draw it.
    """
    make = GameAbilities(game).mirror
    if make is None:
        name, inside = split_call(game.name.removeprefix("openspiel:"), "game")
        twin, defaults = _TWINS.get(name, (None, {}))
        given = {} if twin is None else parse_call(f"game({inside or ''})")[1]
        if twin is None or given.keys() - defaults.keys():
            raise UnsupportedGameError(
                f"PettingZoo has no environment to mirror {game.name}, which its "
                "pictures and observations need. Its own games are drawn, such as "
                f"game='pettingzoo:connect_four_v3'; OpenSpiel's {', '.join(_TWINS)}, too."
            )
        chosen = {key: given.get(key, value) for key, value in defaults.items()}
        inner = ",".join(f"{key}={value}" for key, value in chosen.items())
        make = load_game(f"pettingzoo:{twin}({inner})").mirror  # type: ignore[attr-defined]
    return make(render_mode)


def illegal_action(action: str, legal: Sequence[int]) -> str:
    """The message for an illegal action of the learner, with ways to know the legal ones."""
    return (
        f"Action {action} is illegal; the legal actions are {list(legal)}. A learner must see "
        "which are: train MaskablePPO of sb3-contrib, which asks action_masks(), in place of PPO, "
        'or choose by info["action_mask"]; illegal="lose" makes an illegal action lose the game.'
    )
