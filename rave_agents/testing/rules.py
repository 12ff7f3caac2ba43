"""``check_rules``: checks compiled rules against a plain form of the game."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.errors import ConformanceError, GameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, PlayerId, drawn_outcome
from rave_agents.games.kit.playing import MOVE_ROOT
from rave_agents.games.kit.rules import Rules
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.games.kit.rules_state import RulesState
from rave_agents.simulate.frame import Header, Status
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import make_frame, simulated
from rave_agents.testing.common import TOLERANCE, require
from rave_agents.testing.more_stones import check_foreseen_win, check_more_stones
from rave_agents.testing.simulators import check_returns

PLAYOUT_MOVES = 4096
"""Room for the moves of one compared playout."""


def check_rules(
    rules: Rules,
    make_reference: Callable[[], Any] | None = None,
    *,
    games: int = 100,
    interpreted_games: int = 2,
    seed: int = 0,
    max_moves: int = 10_000,
    strings: bool = True,
) -> None:
    """Play random games by compiled rules, next to a reference and to the same rules interpreted.

    At every position these must agree: the player to move, the legal actions or chance outcomes,
    the end of the game, its returns, and the names of actions. Compiled and interpreted records
    must be equal field by field, as must playouts with the same random numbers. The promises
    ``more_stones_never_hurt`` and ``foresee_end`` are put to the test.

    Args:
        rules: the game.
        make_reference: makes the same game's start in a plain form: a GameState, or a
            ``pyspiel.State``, as ``pyspiel.load_game("hex").new_initial_state`` does. Without one
            the rules are compared with themselves alone.
        games: random games to play.
        interpreted_games: how many of them to play interpreted as well, which is slow.
        seed: decides everything random.
        max_moves: where to break off a game, chance outcomes included.
        strings: whether the reference writes actions as the rules do.

    Raises:
        ConformanceError: naming what differs, and the moves that led there.
    """
    for game in range(games):
        draw = random.Random(f"{seed} {game}")
        state: RulesState | None = None
        try:
            state = rules.new_initial_state()
            reference = None if make_reference is None else make_reference()
            # A second record, so that an error in one form cannot reach the other.
            plain = _Interpreted(rules, state) if game < interpreted_games else None
            for ply in range(max_moves):
                _check_ranges(state)
                if reference is not None:
                    _check_same(state, reference, strings)
                if plain is not None:
                    # Interpreted playouts are slow: mostly early ones, which meet most rules.
                    plain.check(state, playout=draw.random() < 1 / (1 + ply))
                if state.is_terminal():
                    break
                action = _draw_move(state, draw)
                state.apply_action(action)
                if reference is not None:
                    reference.apply_action(action)
                if plain is not None:
                    plain.play(action)
            if rules.more_stones_never_hurt:
                check_more_stones(rules, draw)
            if rules.foresees:
                check_foreseen_win(rules, draw)
        except (ConformanceError, GameError) as error:
            moves = [] if state is None else state.history()
            raise ConformanceError(f"In {rules} after {moves}: {error}") from None


def _draw_move(state: RulesState, draw: random.Random) -> int:
    if state.is_chance_node():
        return drawn_outcome(state, draw)
    return draw.choice(state.legal_actions())


def _check_ranges(state: RulesState) -> None:
    """Check the rules' answers against the bounds that the rules state.

    The state itself refuses the rest, such as probabilities that do not sum to 1.
    """
    if state.is_terminal():
        returns, total = state.returns(), state.utility_sum()
        check_returns(returns, state, "returns()")
        require(
            total is None or abs(sum(returns) - total) < TOLERANCE,
            f"returns() must sum up to utility_sum, {total}, or that be None: {returns}.",
        )
        return
    actions = state.legal_actions()
    top = state.num_distinct_actions()
    if state.is_chance_node():
        actions = [action for action, _ in state.chance_outcomes()]
        top = max(top, state.rules.max_actions)
    require(
        actions == sorted(set(actions)) and actions[0] >= 0 and actions[-1] < top,
        f"Actions must be ascending numbers from 0 to {top - 1}: {actions}.",
    )


def _check_same(state: RulesState, reference: GameState | Any, strings: bool) -> None:
    player = int(reference.current_player())
    _require_equal("current_player()", state.current_player(), player)
    _require_equal("is_terminal()", state.is_terminal(), bool(reference.is_terminal()))
    if player == PlayerId.TERMINAL:
        returns = list(map(float, reference.returns()))
        _require_equal("returns()", state.returns(), returns)
    elif player == PlayerId.CHANCE:
        wanted = [(int(action), float(chance)) for action, chance in reference.chance_outcomes()]
        found = state.chance_outcomes()
        same = [action for action, _ in found] == [action for action, _ in wanted] and all(
            abs(one - other) < TOLERANCE for (_, one), (_, other) in zip(found, wanted, strict=True)
        )
        require(same, f"chance_outcomes() gives {found!r}, not {wanted!r}.")
    else:
        actions = list(map(int, reference.legal_actions()))
        _require_equal("legal_actions()", state.legal_actions(), actions)
        name_of = StateAbilities(reference).action_to_string if strings else None
        if name_of is not None:
            for action in actions:
                written = str(name_of(player, action))
                given = state.action_to_string(player, action)
                _require_equal(f"action_to_string({player}, {action})", given, written)


def _require_equal(what: str, given: object, expected: object) -> None:
    if given != expected:
        raise ConformanceError(f"{what} is {given!r}, not {expected!r}.")


class _Interpreted:
    """The same position by the same rules, run as plain Python."""

    def __init__(self, rules: Rules, state: RulesState) -> None:
        self._rules = rules
        self._frame = self._new_frame(1)
        self._frame.header[Header.STEP] = MOVE_ROOT
        self._frame.header[Header.EXPAND] = 1
        self._simulator = RulesSimulator(rules, state.root, self._frame, interpreted=True)

    def _new_frame(self, seed: int) -> Any:
        return make_frame(
            num_players=self._rules.num_players,
            playouts=1,
            playout_stream=make_stream(np.random.SeedSequence(seed)),
            action_capacity=self._rules.max_actions,
            move_capacity=PLAYOUT_MOVES,
        )

    def play(self, action: int) -> None:
        self._frame.path[0] = action
        self._frame.header[Header.PATH_LENGTH] = 1

    def check(self, state: RulesState, *, playout: bool) -> None:
        header = self._frame.header
        if simulated(self._simulator, self._frame) != Status.DONE:
            self._simulator.raise_pending()
        # The move is in the root now (MOVE_ROOT): the next simulation starts there.
        header[Header.PATH_LENGTH] = 0
        for name in self._rules.record.names or ():
            same = np.array_equal(self._simulator.root[name], state.root[name])
            require(same, f"The field {name} differs, interpreted.")
        player, count = int(header[Header.PLAYER]), int(header[Header.NUM_ACTIONS])
        _require_equal("current_player()", state.current_player(), player)
        listed = self._frame.actions[:count].tolist()
        given = [action for action, _ in state.chance_outcomes()] or state.legal_actions()
        _require_equal("The list of actions", given, listed)
        if playout and not state.is_terminal():
            compiled, plain = self._play_out(state, False), self._play_out(state, True)
            _require_equal("A playout, its players, actions and returns,", compiled, plain)

    def _play_out(self, state: RulesState, interpreted: bool) -> Any:
        # The same seed for both forms, another one at each position.
        frame = self._new_frame(len(state.history()))
        provider = RulesSimulator(
            self._rules, state.root, frame, interpreted=interpreted or JIT_DISABLED
        )
        status = simulated(provider, frame)
        if status == Status.FAILED:
            provider.raise_pending()
        require(
            status == Status.DONE,
            f"A playout has more than {PLAYOUT_MOVES} moves.",
        )
        check_returns(frame.returns[0].tolist(), state, "The returns of a playout")
        moves = slice(0, int(frame.playout_ends[0]))
        return (
            frame.move_players[moves].tolist(),
            frame.move_actions[moves].tolist(),
            frame.returns[0].tolist(),
        )
