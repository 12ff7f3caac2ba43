"""The checks of ``Searcher.search(state, resume=True)``."""

from collections.abc import Sequence

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.edits import WATCHED, code_generation
from rave_agents.config.search_config import SearchConfig
from rave_agents.frameworks.copies import answers_of
from rave_agents.game.game_state import GameState
from rave_agents.searcher.kept_trees import KeptTrees, can_be_told, is_same_position


def check_resumes(
    trees: KeptTrees,
    config: SearchConfig,
    state: GameState,
    player: int | None,
    moves: Sequence[int] | None,
    *,
    reuse: bool,
) -> None:
    """Refuse to resume a search where another position was searched last, or none.

    Positions are compared by ``position_key()``, or, in a game without keys, by the answers of the
    state's methods.

    Raises:
        ValueError: if there is nothing to resume; the message says why.
    """
    if moves is not None or reuse:
        raise ValueError("Give resume, moves or reuse, not several of them.")
    root = trees.root
    if root is None:
        raise ValueError("resume=True: there is nothing to resume, since nothing was searched yet.")
    if root.game.determinizes:
        raise ValueError(
            "resume=True: a search of a game with hidden information, or with chance that its "
            "actions draw, begins anew each time. Give a larger limit instead."
        )
    if WATCHED:
        code_generation()
    if root.game.config is not config or root.game.generation != OpenFunction.generation:
        raise ValueError(
            "resume=True: the searcher's configuration or one of its formulas has changed since."
        )
    if can_be_told(root.state):
        same = is_same_position(state, root.state)
    else:
        same = type(state) is type(root.state) and answers_of(state) == answers_of(root.state)
    if not same:
        raise ValueError(
            "resume=True: the state is not the position that was searched last. After a move, lead "
            "the searcher there by advance(action), or give moves=[action] in place of resume."
        )
    if player is not None and player != root.player:
        raise ValueError(
            f"resume=True: the last search was for player {root.player}, got player={player}."
        )
