"""The plies of a game: as a path of the moving players' actions, and as journals list them."""

import pytest

from rave_agents import as_game
from rave_agents.game.game_state import apply_path
from rave_agents.records.reader import plies


class Duel:
    """Both players shoot at the same time; who has no bullet left has no action."""

    def __init__(self, bullets=(2, 1)):
        self.bullets = list(bullets)

    def clone(self):
        return Duel(self.bullets)

    def current_player(self):
        return -4 if self.is_terminal() else -2

    def is_terminal(self):
        return self.bullets == [0, 0]

    def is_chance_node(self):
        return False

    def legal_actions(self, player):
        return [7] if self.bullets[player] else []

    def apply_actions(self, joint):
        assert joint == [7 if left else 0 for left in self.bullets]
        self.bullets = [max(0, left - 1) for left in self.bullets]

    def num_players(self):
        return 2

    def __str__(self):
        return str(self.bullets)


@pytest.mark.parametrize(("joint", "actions"), [(False, (7, 7, 7)), (True, (7, 7, 7, 0))])
def test_players_without_an_action_have_one_in_journals_alone(joint, actions):
    found = list(plies(Duel(), actions, joint=joint))
    assert [(ply.players, ply.actions) for ply in found] == [
        ((0, 1), (7, 7)), ((0,), (7,)), ((), ())
    ]  # fmt: skip
    assert [str(ply.state) for ply in found] == ["[2, 1]", "[1, 0]", "[0, 0]"]
    state = Duel()
    apply_path(state, [action for ply in found for action in ply.actions])
    assert state.is_terminal()


@pytest.mark.parametrize(
    ("joint", "actions", "said"),
    [
        (True, (7, 7, 7, 7), "Action 7, number 4 of the game, is not legal"),
        (True, (7, 7, 7), "The actions end with 1 of those at the same time"),
        (False, (7,), "The actions end with 1 of those at the same time"),
        (False, (7, 7, 7, 7), "The game is over after 3 of 4 actions"),
    ],
)
def test_actions_that_are_no_game_are_refused(joint, actions, said):
    with pytest.raises(ValueError, match=said):
        list(plies(Duel(), actions, joint=joint))


def test_chance_outcomes_are_plies_of_nobody():
    found = list(plies(as_game("kuhn_poker").new_initial_state(), [2, 0, 1]))
    assert [ply.players for ply in found] == [(), (), (0,), ()]
    assert found[2].names == ("Bet",)
