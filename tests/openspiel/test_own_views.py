"""Games in Python whose states tell by methods of their own what players see."""

import random
from typing import Any

import numpy as np
import pyspiel
import pytest
from helpers.spiel import own_type, written_game
from rave_openspiel import OpenSpielState, UCTBot
from rave_openspiel.worlds import view, world_source

from rave_agents import BatchEvaluator


def _type(name: str, *provides: str) -> pyspiel.GameType:
    hidden = {"chance": "EXPLICIT_STOCHASTIC", "information": "IMPERFECT_INFORMATION"}
    return own_type(name, **hidden, provides=provides)


class Cards(pyspiel.State):
    """Each of two players gets one of three cards, and bets or not; the higher card wins."""

    def __init__(self, game: pyspiel.Game) -> None:
        super().__init__(game)
        self.cards: list[int] = []
        self.bets: list[int] = []

    def current_player(self) -> int:
        if len(self.cards) < 2:
            return int(pyspiel.PlayerId.CHANCE)
        return len(self.bets) if len(self.bets) < 2 else int(pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        return len(self.bets) == 2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = [card for card in range(3) if card not in self.cards]
        return [(card, 1 / len(left)) for card in left]

    def _legal_actions(self, player: int) -> list[int]:
        return [0, 1]

    def _apply_action(self, action: int) -> None:
        (self.cards if len(self.cards) < 2 else self.bets).append(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def returns(self) -> list[float]:
        won = 0.0
        if self.is_terminal():
            won = (2.0 if all(self.bets) else 1.0) * (1 if self.cards[0] > self.cards[1] else -1)
        return [won, -won]

    def __str__(self) -> str:
        return f"{self.cards} {self.bets}"

    def _seen(self, player: int) -> str:
        return f"{player} has {self.cards[player]}, bets {self.bets}"  # Fails before the deal.


class Informed(Cards):
    def information_state_string(self, player: int) -> str:
        return self._seen(player)


class Observed(Cards):
    def observation_string(self, player: int) -> str:
        return self._seen(player)


class Numbers(Observed):
    def observation_tensor(self, player: int) -> list[float]:
        return [float(self.cards[player]), *([0.0, 0.0, *map(float, self.bets)][-2:])]


def _registered(state: type[pyspiel.State], name: str, *provides: str) -> pyspiel.Game:
    return written_game(_type(name, *provides), state, actions=2, length=2, outcomes=3, most=2.0)


BOTH = ("information_state_string", "observation_string")

CASES = [
    (Informed, "own_information", BOTH),
    (Informed, "own_information_alone", ("information_state_string",)),
    (Observed, "own_observation", BOTH),
    (Observed, "own_observation_alone", ("observation_string",)),
    (Observed, "own_observation_undeclared", ()),
    (Numbers, "own_numbers", (*BOTH, "observation_tensor")),
]


def _dealt(game: pyspiel.Game) -> pyspiel.State:
    state = game.new_initial_state()
    state.apply_action(2)
    state.apply_action(0)
    return state


@pytest.mark.parametrize(("kind", "name", "provides"), CASES, ids=[case[1] for case in CASES])
def test_a_state_in_python_is_seen_by_its_own_methods(kind: Any, name: str, provides: Any) -> None:
    game = _registered(kind, name, *provides)
    state = _dealt(game)
    assert view(state, 0) == "0 has 2, bets []"
    draw = world_source(state, 0, random.Random(1).random)
    worlds = [draw() for _ in range(40)]
    assert {world.cards[0] for world in worlds} == {2}
    assert {world.cards[1] for world in worlds} == {0, 1}
    bot = UCTBot(game, simulations=50, seed=1)
    assert bot.step(state) in (0, 1)
    assert "plays" in str(bot.last_result)


def test_a_game_in_python_without_any_view_is_refused() -> None:
    game = _registered(Cards, "no_view", *BOTH)
    with pytest.raises(ValueError, match="does not show what a player sees"):
        UCTBot(game, simulations=50, seed=1).step(_dealt(game))


def test_own_numbers_reach_an_evaluator() -> None:
    game = _registered(Numbers, "own_numbers_evaluated", *BOTH, "observation_tensor")
    rows: list[list[float]] = []

    def network(batch: Any) -> Any:
        rows.extend(batch.observations.tolist())
        return np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.observations))

    state = _dealt(game)
    assert OpenSpielState(state).observation(0).tolist() == [2.0, 0.0, 0.0]
    bot = UCTBot(game, simulations=20, seed=1, evaluator=BatchEvaluator(network), hidden="see")
    bot.step(state)
    assert [2.0, 0.0, 0.0] in rows


class Proxy(pyspiel.State):
    """A state that asks another, as those of kaggle-environments do."""

    def __init__(self, wrapped: pyspiel.State, game: pyspiel.Game) -> None:
        super().__init__(game)
        self.wrapped = wrapped

    def current_player(self) -> int:
        return int(self.wrapped.current_player())

    def _legal_actions(self, player: int) -> Any:
        return self.wrapped.legal_actions(player)

    def _apply_action(self, action: int) -> None:
        self.wrapped.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> Any:
        return self.wrapped.action_to_string(player, action)

    def chance_outcomes(self) -> Any:
        return self.wrapped.chance_outcomes()

    def is_terminal(self) -> bool:
        return bool(self.wrapped.is_terminal())

    def returns(self) -> Any:
        return self.wrapped.returns()

    def observation_string(self, player: int) -> str:
        return f"seen: {self.wrapped.observation_string(player)}"

    def __str__(self) -> str:
        return str(self.wrapped)

    def __getattr__(self, name: str) -> Any:
        return object.__getattribute__(self.wrapped, name)


def test_a_proxy_of_a_cpp_game_is_searched() -> None:
    inner = pyspiel.load_game("kuhn_poker")
    kind = _type("kuhn_proxy_of_test", *BOTH)
    game = written_game(
        kind,
        lambda game: Proxy(inner.new_initial_state(), game),
        actions=inner.num_distinct_actions(),
        length=inner.max_game_length(),
        outcomes=inner.max_chance_outcomes(),
        most=inner.max_utility(),
    )
    state = _dealt(game)
    assert view(state, 0).startswith("seen: ")
    bot = UCTBot(game, simulations=50, seed=1)
    assert bot.step(state) in (0, 1)
