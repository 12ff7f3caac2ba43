"""``certify``: writes certificates of the bounds that the solver has proven."""

import math
import os
from collections.abc import Callable
from typing import Any

from rave_agents.certificates.certificate_file import Header
from rave_agents.certificates.checker import AT_LEAST, AT_MOST, Statement
from rave_agents.certificates.writer import write_certificate
from rave_agents.errors import CertificateError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import Moves, apply_moves
from rave_agents.solver.expected_value import ExpectedValue
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.state_expander import with_history

NOTHING_PROVEN = "Nothing is proven that a certificate could state."

ROUNDING = 1e-13
"""Slack of expected values, relative to them: the checker adds in another order."""


def position_header(
    game: Game,
    name: str,
    played: list[int],
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
) -> Header:
    """The header of a certificate of a position, without statements.

    Args:
        game: the game.
        name: its name for ``rave-agents verify``.
        played: the actions from the game's start to the position; empty if they are unknown.
        moves: the moves as the user gave them.
        position: the position at which they begin, as the user gave it.

    Raises:
        CertificateError: if neither moves nor a text identify the position.
    """
    if played or position is None:
        return Header(name, None, tuple(played), ())
    text = str(position)
    of_text = GameAbilities(game).position_of
    start = None if of_text is None else of_text(text)
    if start is None:
        raise CertificateError(
            "A certificate needs the moves that lead to the position, or a FEN: give its moves."
        )
    return Header(name, text, tuple(apply_moves(start, moves)), ())


def certify(
    path: str | os.PathLike[str],
    solution: Any,
    game: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
) -> int:
    """Write the certificate of a solution; returns the number of lines of its proofs.

    Args:
        path: the file.
        solution: a result of ``solve_position`` or ``solve_expected``.
        game: the game, as given there.
        moves: the moves, as given there.
        position: the position, as given there.

    Raises:
        CertificateError: if nothing is proven.
        OSError: if the file cannot be written.
    """
    loaded = as_game(game)
    header = position_header(loaded, solution.game, list(solution.moves), moves, position)
    root = with_history(header.root(loaded), header.moves)
    search = solution.search
    if isinstance(search, ExpectedValue):
        return write_bounds(path, header, root, search)
    return write_proof(path, header, root, search, solution.player, solution.bounds)


def write_bounds(
    path: str | os.PathLike[str], header: Header, root: GameState, search: ExpectedValue
) -> int:
    """Write the certificate of the bounds of an expected return, see ``certify``.

    Raises:
        CertificateError: if nothing is proven.
        OSError: if the file cannot be written.
    """
    (low, high), question = search.known(root), search.question
    # Bounds are moved outwards, so that the claim stays true however the checker rounds.
    slack = ROUNDING * max(1.0, abs(low), abs(high))
    statements = []
    if low > question.least:
        statements.append(Statement(question.player, AT_LEAST, low - slack))
    if high < question.greatest:
        statements.append(Statement(question.player, AT_MOST, high + slack))
    if not statements:
        raise CertificateError(NOTHING_PROVEN)

    def left_out(statement: Statement, state: GameState) -> bool:
        return search.is_unknown(state, low=statement.bound == AT_LEAST)

    header = header._replace(statements=(*statements,))
    return write_certificate(path, header, root, [search.answer] * len(statements), left_out)


def write_proof(
    path: str | os.PathLike[str],
    header: Header,
    root: GameState,
    search: ProofSearch,
    player: int,
    bounds: tuple[float, float],
) -> int:
    """Write the certificate of the bounds that a player can force, see ``certify``.

    Parts of the proof that the table has dropped are searched again.

    Args:
        path: the file.
        header: the position, see ``position_header``.
        root: the position from ``header.root``.
        search: the search that has proven them.
        player: the player.
        bounds: the bounds.

    Raises:
        CertificateError: if nothing is proven.
        OSError: if the file cannot be written.
    """
    low, high = bounds
    proofs: list[tuple[Statement, Callable[[GameState], int]]] = []
    # A game that always ends needs no value for endless play: the statement is then stronger.
    endless = search.repetition if search.may_loop else None
    if low > root.min_utility():
        statement = Statement(player, AT_LEAST, low, endless)
        proofs.append((statement, _answers(search, player, low, proven=True)))
    if high < root.max_utility():
        most, worst = high, endless
        if search.may_loop and endless is None and math.isfinite(root.min_utility()):
            # Endless play never counts as enough for the player: it counts as the least return.
            worst = float(root.min_utility())
            most = max(high, worst)
        statement = Statement(player, AT_MOST, most, worst)
        # A refutation is of "at least x": the least x above the bound that the search has met.
        above = min(
            (x for x in search.values_met if x > high), default=math.nextafter(high, math.inf)
        )
        proofs.append((statement, _answers(search, player, above, proven=False)))
    if not proofs:
        raise CertificateError(NOTHING_PROVEN)
    header = header._replace(statements=tuple(statement for statement, _ in proofs))
    return write_certificate(path, header, root, [answers for _, answers in proofs])


def _answers(
    search: ProofSearch, player: int, at_least: float, *, proven: bool
) -> Callable[[GameState], int]:
    """The proving side's actions: the player's if the statement is proven, else the others'."""

    def answer(state: Any) -> int:
        found = search.answer(state, player, at_least)
        if found is None:  # The table has dropped it.
            # Without a limit: a statement proven once can be proven again.
            search.prove(state, player, at_least)
            found = search.answer(state, player, at_least)
        if found is None or found.proven != proven or found.action is None:
            raise CertificateError("The proof differs from the search's result; please report it.")
        return found.action

    return answer
