"""``check_bot``: checks that a bot implements the methods of ``pyspiel.Bot``."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.game.abilities import StateAbilities
from rave_agents.game.endless import until_over
from rave_agents.testing.common import TOLERANCE, drawn_move, require


def check_bot(
    make_bot: Callable[[int, int], Any], game: Any, *, games: int = 2, seed: int = 0
) -> None:
    """Check bots with the methods of ``pyspiel.Bot`` in whole games against each other.

    The check verifies that ``step`` returns legal actions from every seat and does not change the
    state, that ``inform_action`` and ``restart`` work, that a policy covers the legal actions and
    sums to 1, and that new bots with the same seed play the same moves.

    Args:
        make_bot: called as ``make_bot(player, seed)``.
        game: has ``new_initial_state()``, whose states have the methods of ``pyspiel.State``.
        games: the number of games that each set of bots plays, one after the other.
        seed: seeds every random choice, the bots' seeds included.

    Raises:
        ConformanceError: with the method and the rule that it violated.
    """
    num_players = int(game.new_initial_state().num_players())
    records = []
    # Bots play several games, so that state left over from one game shows in the next.
    for _ in range(2):
        bots = [make_bot(player, seed + player) for player in range(num_players)]
        records.append([_bots_game(bots, game, f"{seed} {number}") for number in range(games)])
    require(
        records[0] == records[1],
        "step() must play the same moves for the same seed: two sets of bots made with equal seeds "
        "played different games.",
    )


def _bots_game(bots: Sequence[Any], game: Any, seed: str) -> list[int]:
    draw = random.Random(seed)
    state = game.new_initial_state()
    actions: list[int] = []
    for bot in bots:
        bot.restart()
    for _ in until_over(state):
        player = int(state.current_player())
        if state.is_chance_node():
            (action,) = drawn_move(state, draw)
        else:
            require(player >= 0, f"The game has a position where current_player() is {player}.")
            # Both ways in one game: a bot must keep its tree whichever of them is called.
            action = _bot_action(bots[player], state, with_policy=draw.random() < 0.5)
        # Before the action is applied, as pyspiel.evaluate_bots does; the mover is not informed.
        for other, bot in enumerate(bots):
            if other != player:
                before = _content(state)
                bot.inform_action(state, player, action)
                require(
                    _content(state) == before, "inform_action() must leave the state as it was."
                )
        state.apply_action(action)
        actions.append(action)
    return actions


def _bot_action(bot: Any, state: Any, *, with_policy: bool) -> int:
    before, legal = _content(state), list(state.legal_actions())
    if with_policy and bot.provides_policy():
        _check_policy(bot.get_policy(state), legal, "get_policy()")
        require(_content(state) == before, "get_policy() must leave the state as it was.")
        policy, action = bot.step_with_policy(state)
        _check_policy(policy, legal, "step_with_policy()")
    else:
        action = bot.step(state)
    require(_content(state) == before, "step() must leave the state as it was.")
    require(action in legal, f"step() gave {action!r} at a state where {legal!r} are legal.")
    return int(action)


def _check_policy(policy: Sequence[tuple[int, float]], legal: list[int], source: str) -> None:
    actions = [action for action, _ in policy]
    require(
        sorted(actions) == sorted(legal),
        f"{source} must cover exactly the legal actions {legal!r}, got {actions!r}.",
    )
    require(
        all(probability >= 0.0 for _, probability in policy)
        and abs(math.fsum(probability for _, probability in policy) - 1.0) < TOLERANCE,
        f"{source} must have probabilities that sum to 1, got {policy!r}.",
    )


def _content(state: Any) -> tuple[Any, ...]:
    """Return the content of a framework's state, to compare two states."""
    # The history too: the text alone would miss an action that was applied and hidden.
    method = StateAbilities(state).history
    history = () if method is None else tuple(method())
    return (str(state), history, int(state.current_player()))
