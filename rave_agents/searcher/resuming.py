"""Checks for ``Searcher.search(state, resume=True)``."""

from collections.abc import Sequence

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.edits import WATCHED, code_generation
from rave_agents.config.search_config import SearchConfig
from rave_agents.frameworks.copies import answers_of
from rave_agents.game.game_state import GameState
from rave_agents.searcher.kept_trees import KeptTrees, has_position_key, is_same_position


def check_resumes(
    trees: KeptTrees,
    config: SearchConfig,
    state: GameState,
    player: int | None,
    moves: Sequence[int] | None,
    *,
    reuse: bool,
) -> None:
    """Refuse to resume if another position, or none, was searched last.

    Positions are compared by ``position_key()``, or without keys by the results of the state's
    methods.

    Raises:
        ValueError: if there is nothing to resume, with the reason.
    """
    if moves is not None or reuse:
        raise ValueError("Pass only one of resume, moves and reuse.")
    root = trees.root
    if root is None:
        raise ValueError("resume=True: there is nothing to resume: nothing was searched yet.")
    if root.game.determinizes:
        raise ValueError(
            "resume=True: a search of a game with hidden information, or whose actions draw "
            "chance, starts anew each time. Use a larger limit instead."
        )
    if WATCHED:
        code_generation()
    if root.game.config is not config or root.game.generation != OpenFunction.generation:
        raise ValueError(
            "resume=True: the searcher's configuration or one of its formulas has changed since."
        )
    if has_position_key(root.state):
        same = is_same_position(state, root.state)
    else:
        same = type(state) is type(root.state) and answers_of(state) == answers_of(root.state)
    if not same:
        raise ValueError(
            "resume=True: the state is not the position that was searched last. After a move, call "
            "advance(action), or pass moves=[action] instead of resume."
        )
    if player is not None and player != root.player:
        raise ValueError(
            f"resume=True: the last search was for player {root.player}, got player={player}."
        )
