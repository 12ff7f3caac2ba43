"""Turns of a board under which rules stay the same, and the keys that positions share by them."""

import random
from typing import Any

import numpy as np
import pytest

from rave_agents.evaluators.symmetries import board_of, cells_used, symmetries_of
from rave_agents.frameworks.own_games import as_game
from rave_agents.games.clobber import Clobber
from rave_agents.games.kit.images import images_of
from rave_agents.games.kit.rules import Rules
from rave_agents.solver.proof_search import ProofSearch

GAMES = {
    "tic_tac_toe": 8,
    "mnk(m=4,n=3,k=3)": 4,
    "hex(board_size=3)": 2,
    "connect_four(rows=4,columns=4)": 2,
    "breakthrough(rows=4,columns=4)": 2,
    "clobber(rows=3,columns=4)": 4,
    "clobber(rows=4,columns=4)": 8,
    "nogo(board_size=3)": 8,
    "othello": 8,
    "dots_and_boxes(num_rows=2,num_cols=2)": 8,
}
"""Games, and the images of a position in each."""


def positions(name: str, count: int) -> Any:
    """Positions of random games in which players move."""
    draw, game = random.Random(name), as_game(name)
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            yield state
            count -= 1
            if count == 0:
                return
            state.apply_action(draw.choice(state.legal_actions()))


@pytest.mark.parametrize("name", GAMES)
def test_the_turns_of_a_game_are_those_found_by_play(name):
    rules = as_game(name).new_initial_state().on_compiled_rules().rules
    images = images_of(rules.board_shape, rules.turns)
    assert rules.num_images == len(images) == GAMES[name]
    start, used = board_of(rules.new_initial_state()), cells_used(rules)
    found = {image[used].tobytes() for image in symmetries_of(rules)}
    # Where pieces of two colours change places, no game has both of the positions.
    kept = [image for image in images[1:] if (start[image] == start).all()]
    assert kept
    assert {image[used].tobytes() for image in kept} <= found


@pytest.mark.parametrize(
    "name", [name for name in GAMES if not name.startswith(("clobber", "nogo"))]
)
def test_what_is_told_of_a_position_is_all_of_it(name):
    """But of Clobber and NoGo, whose positions are told by their worth: see ``tests/solver``."""
    told: dict[Any, Any] = {}
    for state in positions(name, 200):
        on_rules = state.on_compiled_rules()
        cells = np.zeros(on_rules.rules.num_board_cells, np.int8)
        with np.errstate(over="ignore"):
            rest = on_rules.rules.describe_position(on_rules.record, cells)
            key = on_rules.position_key()
        assert told.setdefault((cells.tobytes(), rest), key) == key


def test_a_position_and_its_image_have_one_entry():
    game = as_game("tic_tac_toe")
    search = ProofSearch(game.new_initial_state(), max_memory_mb=1)
    keys = set()
    for corner in (0, 2, 6, 8):
        state = game.new_initial_state()
        state.apply_action(corner)
        keys.add(search.key(state))
    assert len(keys) == 1


def test_the_answer_at_an_image_is_a_move_of_its_own():
    game = as_game("tic_tac_toe")
    search = ProofSearch(game.new_initial_state(), max_memory_mb=1)
    one, other = (game.new_initial_state() for _ in range(2))
    for state, moves in (one, (0, 1, 4, 2)), (other, (8, 7, 4, 6)):
        for action in moves:
            state.apply_action(action)
    assert search.prove(one, 0, 1.0)
    for state in (one, other):
        state.apply_action(search.answer(state, 0, 1.0).action)
        assert search.prove(state, 0, 1.0)


class HalfClobber(Clobber):
    """A game whose rules have changed: one piece more can move."""


def test_a_game_of_changed_rules_has_no_turns_but_its_own():
    assert HalfClobber(rows=3, columns=4).num_images == 1
    own = type("Own", (HalfClobber,), {"turns": ("mirrored",)})
    assert own(rows=3, columns=4).num_images == 2


def test_a_turn_that_there_is_not_is_refused():
    kind = type("Turned", (Clobber,), {"turns": ("mirored",)})
    with pytest.raises(ValueError, match="'mirored' is no turn"):
        kind()


def test_turns_need_what_a_position_is():
    kind = type("Told", (Clobber,), {"turns": ("mirrored",)})
    kind.describe_position = Rules.describe_position
    with pytest.raises(TypeError, match="no method describe_position"):
        kind()
