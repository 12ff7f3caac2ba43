"""Numbers for actions of large ids."""

from rave_agents.simulate.action_numbers import UNNUMBERED, ActionNumbers


def test_actions_get_numbers_in_the_order_in_which_they_occur():
    numbers = ActionNumbers(2)
    assert numbers.of_position([10**12, 7]) == [1, 2]
    assert numbers.of_playout([7, 10**9]) == [2, 3]
    assert numbers.ids([3, 1, 2]) == [10**9, 10**12, 7]
    assert numbers.known([7, 8]) == [2, UNNUMBERED]


def test_actions_of_playouts_alone_get_numbers_while_there_are_few():
    numbers = ActionNumbers(2)
    numbers.most_of_playouts = 3
    numbers.clear()
    assert numbers.of_playout([5, 6]) == [1, 2]
    assert numbers.of_playout([6, 7]) == [2, UNNUMBERED]
    assert numbers.of_position([7]) == [3]


def test_what_has_no_room_is_taken_back():
    numbers = ActionNumbers(2)
    numbers.capacity = 3
    numbers.of_position([5, 6, 7, 8])
    assert numbers.overflows
    numbers.close(to_playouts=True)
    assert numbers.known([5, 6, 7, 8]) == [1, 2, UNNUMBERED, UNNUMBERED]
    assert not numbers.overflows
    assert numbers.of_playout([9]) == [UNNUMBERED]
    assert numbers.of_position([9]) == [3]
    numbers.close()
    assert numbers.of_position([5, 9]) == [1, UNNUMBERED]
    numbers.clear()
    assert numbers.of_position([9]) == [1]
