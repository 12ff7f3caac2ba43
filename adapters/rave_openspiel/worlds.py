"""Worlds: states that a player cannot tell from the true one, drawn at random.

A search in a game with hidden information begins each simulation in another world. There are three
sources (``world_source`` chooses):

* a function of the user's, whose worlds are checked;
* the game's own ``resample_from_infostate``, where it has one;
* else ``ReplayedWorlds``: the history once more, with other chance outcomes and other moves of the
  others wherever the player sees the same at every step.

All of them draw from one stream of random numbers, so that the same seed gives the same worlds.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pyspiel

from rave_agents.errors import GameError, UnsupportedGameError
from rave_openspiel.same_game import is_same_game

Unit = Callable[[], float]
"""Draws a uniform random number in [0, 1)."""

WorldFunction = Callable[[pyspiel.State, int, np.random.Generator], pyspiel.State]
"""A source of the user's own, called as ``worlds(state, player, rng)``: it returns a new state that
``player`` cannot tell from ``state``, which it must not change."""

WorldSource = Callable[[], pyspiel.State]
"""Gives another world each time that it is called; the caller may change it."""

PROPOSALS = 8
"""Changes that the replay tries between two worlds, at least; it tries one for each move and
outcome that can be hidden if these are more, up to ``MOST_PROPOSALS``."""

MOST_PROPOSALS = 32

FIRST_PROPOSALS = 20
"""How many times as many it tries before the first world, to get away from the true one."""

_SIGHT_TRIALS = 4
_RESTART_SHARE = 0.25
_LEAST_RESTARTS = 0.02


def view(state: pyspiel.State, player: int) -> str:
    """What a player sees at a state: his information state, or else his observation."""
    return viewer(state.get_game())(state, player)


def viewer(game: pyspiel.Game) -> Callable[[pyspiel.State, int], str]:
    """The function of a state and a player that tells what he sees in this game."""
    if game.get_type().provides_information_state_string:
        return pyspiel.State.information_state_string  # type: ignore[no-any-return]
    return pyspiel.State.observation_string  # type: ignore[no-any-return]


def world_source(
    state: pyspiel.State, player: int, unit: Unit, worlds: WorldFunction | None = None
) -> WorldSource:
    """Where the worlds of a position come from.

    Args:
        state: the true position.
        player: who is to move there, and whose knowledge counts.
        unit: draws random numbers.
        worlds: the user's own source, if any.

    Raises:
        UnsupportedGameError: if there is no source; it says why.
    """
    if worlds is not None:
        return FunctionWorlds(state, player, unit, worlds)
    game = state.get_game()
    if resamples(game):
        return functools.partial(resampled, state, player, unit)
    reason = no_worlds(game)
    if reason is not None:
        raise UnsupportedGameError(f"There are no worlds for {game}: {reason}.")
    return ReplayedWorlds(state, player, unit)


def no_worlds(game: pyspiel.Game) -> str | None:
    """Why there is no source of worlds for a game but a function of the user's; else None."""
    kind = game.get_type()
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return (
            "its chance mode is SAMPLED_STOCHASTIC, so that its outcomes can be neither listed nor "
            "drawn again"
        )
    if resamples(game):
        return None
    if not (kind.provides_information_state_string or kind.provides_observation_string):
        return "it does not tell what a player sees"
    return NO_WORLDS.get(kind.short_name)


def resampled(state: pyspiel.State, player: int, unit: Unit) -> pyspiel.State:
    """A world by the game's own method."""
    return state.resample_from_infostate(player, unit)


class FunctionWorlds:
    """Worlds of the user's function, each checked.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
    """

    def __init__(
        self, state: pyspiel.State, player: int, unit: Unit, function: WorldFunction
    ) -> None:
        self._state = state.clone()
        self._player = player
        self._function = function
        self._random = np.random.default_rng([int(unit() * 2**32) for _ in range(4)])
        self._view = view(state, player)
        self._legal = state.legal_actions()

    def __call__(self) -> pyspiel.State:
        """A world, which is refused if the player can tell it from the true state.

        Raises:
            GameError: if it is no such state; it says what differs.
        """
        world = self._function(self._state.clone(), self._player, self._random)
        game = self._state.get_game()
        if not isinstance(world, pyspiel.State):
            raise GameError(f"worlds must return a pyspiel.State, got {world!r}.")
        if not is_same_game(world.get_game(), game):
            raise GameError(f"worlds returned a state of {world.get_game()}, not of {game}.")
        if world.current_player() != self._player:
            raise GameError(
                f"worlds returned a state where player {world.current_player()} is to move, "
                f"not player {self._player}."
            )
        if world.legal_actions() != self._legal:
            raise GameError(
                f"worlds returned a state where {world.legal_actions()} are legal, but "
                f"{self._legal} are."
            )
        seen = view(world, self._player)
        if seen != self._view:
            raise GameError(
                f"worlds returned a state that player {self._player} can tell from the true one: "
                f"he would see {seen!r} where he sees {self._view!r}."
            )
        return world


class _Line:
    """A history of the game with all that its probability is made of."""

    def __init__(self, start: pyspiel.State) -> None:
        self.states = [start]
        """The state before each action, and the last one."""
        self.actions: list[int] = []
        """What was played, or what chance drew."""
        self.weights: list[float] = []
        """The logarithm of each one's probability; 0 for those of the player."""

    def cut(self, step: int) -> "_Line":
        """The first actions, as a line of its own."""
        line = _Line(self.states[0])
        line.states = self.states[: step + 1]
        line.actions = self.actions[:step]
        line.weights = self.weights[:step]
        return line

    def add(self, action: int, weight: float) -> pyspiel.State:
        """Play on."""
        state = self.states[-1].clone()
        state.apply_action(action)
        self.states.append(state)
        self.actions.append(action)
        self.weights.append(weight)
        return state


class ReplayedWorlds:
    """Worlds by replaying the history with other hidden outcomes and moves.

    A world's probability is that of its history among all in which the player sees the same at
    every step, if the others had moved uniformly at random: chance by its probabilities, a move of
    another player by one over the number of his legal actions. The worlds are a Markov chain with
    that distribution (Metropolis & Hastings): from one history it goes to the next by swapping two
    outcomes or moves, changing one, or drawing all that can be hidden anew. Each proposal is
    replayed, and dropped where an action is illegal or the player would have seen something else.
    What the player sees at once when it comes, such as his own cards, stays as it was.

    The chain starts at the truth, and takes ``FIRST_PROPOSALS`` rounds before the first world; how
    much it has forgotten of the truth then depends on the game.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws random numbers.

    Raises:
        UnsupportedGameError: if the history cannot be replayed.
    """

    def __init__(self, state: pyspiel.State, player: int, unit: Unit) -> None:
        self._player = player
        self._unit = unit
        self._view = viewer(state.get_game())
        self._history = state.full_history()
        self._line = self._true_line(state)
        self._views = [self._seen(step) for step in self._line.states]
        self._legal = [
            now.legal_actions() if now.current_player() == player else None
            for now in self._line.states
        ]
        self._sites = [step for step in range(len(self._history)) if self._may_be_hidden(step)]
        self._kinds = [self._history[step].player for step in self._sites]
        self._restarts = [0, 0]
        self._restart_share = _RESTART_SHARE
        self._round = min(MOST_PROPOSALS, max(PROPOSALS, len(self._sites)))
        if self._sites:
            self._advance(FIRST_PROPOSALS * self._round)
            tried, accepted = self._restarts
            if accepted < _LEAST_RESTARTS * tried:
                self._restart_share = 0.0

    @property
    def sites(self) -> Sequence[int]:
        """The places in the history whose outcome or move may be another one."""
        return self._sites

    def __call__(self) -> pyspiel.State:
        """The next world."""
        if self._sites:
            self._advance(self._round)
        return self._line.states[-1].clone()

    def _true_line(self, state: pyspiel.State) -> _Line:
        start = state.get_game().new_initial_state(*filter(None, [state.starting_state_str()]))
        line = _Line(start)
        for player, action in ((move.player, move.action) for move in self._history):
            now = line.states[-1]
            weight = self._log_probability(now, action)
            if now.current_player() != player or weight is None:
                raise UnsupportedGameError(
                    f"The history of this state of {state.get_game()} cannot be replayed: action "
                    f"{action} of player {player} is not legal where it was played."
                )
            line.add(action, weight)
        return line

    def _seen(self, state: pyspiel.State) -> str | None:
        """What the player sees where a player is to move; nothing where chance moves."""
        return self._view(state, self._player) if state.current_player() >= 0 else None

    def _log_probability(self, state: pyspiel.State, action: int) -> float | None:
        """Of an action or outcome; None if it is illegal."""
        if state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                if outcome == action and probability > 0:
                    return math.log(probability)
            return None
        legal = state.legal_actions()
        if action not in legal:
            return None
        return 0.0 if state.current_player() == self._player else -math.log(len(legal))

    def _may_be_hidden(self, step: int) -> bool:
        """Whether the player might not see at once what came instead of this action."""
        if self._history[step].player == self._player:
            return False
        state, played = self._line.states[step], self._line.actions[step]
        others = [action for action in _choices(state) if action != played]
        for _ in range(_SIGHT_TRIALS):
            if not others:
                return False
            action = others.pop(int(self._unit() * len(others)))
            after = state.child(action)
            if after.current_player() == self._line.states[step + 1].current_player():
                expected = self._views[step + 1]
                if expected is None or self._seen(after) == expected:
                    return True
        return False

    def _advance(self, proposals: int) -> None:
        for _ in range(proposals):
            kind = self._unit()
            if kind < self._restart_share:
                self._restarts[0] += 1
                self._restarts[1] += self._redraw()
            elif kind < (1.0 + self._restart_share) / 2:
                self._swap()
            else:
                self._change()

    def _site(self) -> int:
        return int(self._unit() * len(self._sites))

    def _swap(self) -> None:
        first, second = sorted((self._site(), self._site()))
        early, late = self._sites[first], self._sites[second]
        actions = self._line.actions
        if self._kinds[first] == self._kinds[second] and actions[early] != actions[late]:
            self._propose(early, {early: actions[late], late: actions[early]})

    def _change(self) -> None:
        step = self._sites[self._site()]
        choices = _choices(self._line.states[step])
        action = choices[int(self._unit() * len(choices))]
        if action != self._line.actions[step]:
            self._propose(step, {step: action})

    def _propose(self, first: int, changes: dict[int, int]) -> None:
        """Replay from a step with some other actions; go there as its probability says."""
        line = self._replayed(first, lambda state, step: changes.get(step, self._action(step)))
        if line is None:
            return
        gain = sum(line.weights[first:]) - sum(self._line.weights[first:])
        self._accept(line, gain)

    def _redraw(self) -> bool:
        """Draw everything hidden anew, in its turn; the rest stays as it was."""
        hidden = set(self._sites)

        def choose(state: pyspiel.State, step: int) -> int:
            return self._drawn(state) if step in hidden else self._action(step)

        line = self._replayed(self._sites[0], choose)
        if line is None:
            return False
        forced = [step for step in range(len(line.weights)) if step not in hidden]
        gain = sum(line.weights[step] - self._line.weights[step] for step in forced)
        return self._accept(line, gain)

    def _accept(self, line: _Line, gain: float) -> bool:
        if gain < 0.0 and self._unit() >= math.exp(gain):
            return False
        self._line = line
        return True

    def _action(self, step: int) -> int:
        return self._line.actions[step]

    def _drawn(self, state: pyspiel.State) -> int:
        if not state.is_chance_node():
            legal = state.legal_actions()
            return int(legal[int(self._unit() * len(legal))])
        remaining = self._unit()
        outcomes = state.chance_outcomes()
        for outcome, probability in outcomes:
            remaining -= probability
            if remaining < 0.0:
                return int(outcome)
        return int(outcomes[-1][0])

    def _replayed(self, first: int, choose: Callable[[pyspiel.State, int], int]) -> _Line | None:
        """The line from a step on with other actions; None if it is illegal or looks different."""
        line = self._line.cut(first)
        state = line.states[-1]
        for step in range(first, len(self._history)):
            if state.current_player() != self._history[step].player:
                return None
            if self._legal[step] is not None and state.legal_actions() != self._legal[step]:
                return None
            action = choose(state, step)
            weight = self._log_probability(state, action)
            if weight is None:
                return None
            state = line.add(action, weight)
            if self._seen(state) != self._views[step + 1]:
                return None
        return line if state.legal_actions() == self._legal[-1] else None


def _choices(state: pyspiel.State) -> list[int]:
    """Legal actions, or the outcomes of chance."""
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.legal_actions())


def resamples(game: pyspiel.Game) -> bool:
    """Whether the worlds of the game's own method are used."""
    return game.get_type().short_name in RESAMPLING


RESAMPLING = frozenset(
    [
        "bargaining",
        "blackjack",
        "bridge",
        "gin_rummy",
        "kuhn_poker",
        "leduc_poker",
        "oh_hell",
        "universal_poker",
    ]
)
"""Games that have a method of their own whose worlds agree with all that a player saw."""

UNRELIABLE = {
    "colored_trails": "it never changes the offer that the player cannot see",
    "euchre": "its worlds may hold cards that the others cannot have, as they did not follow suit",
    "hearts": "its worlds may hold cards that the others cannot have, as they did not follow suit",
}
"""Games whose own method is not used, and why; their history is replayed instead."""

_IN_VAIN = (
    "it has no resample_from_infostate, and a replay of its history would give away how many moves "
    "the others tried in vain"
)

NO_WORLDS = {
    "chat_game": "it has legal actions beyond its num_distinct_actions",
    "crossword": "its actions are structs, not numbers",
    **dict.fromkeys(
        ["dark_hex", "dark_hex_ir", "phantom_go", "phantom_ttt", "phantom_ttt_ir"], _IN_VAIN
    ),
}
"""Games without worlds, and why."""
