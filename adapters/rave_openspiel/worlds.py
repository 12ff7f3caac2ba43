"""Sources of worlds, the determinizations of a search with hidden information.

A world is a random state from the player's information set: to the player it looks like the true
state. Each simulation begins in another world. There are four sources (``world_source`` chooses):

* a function of the user's, whose worlds are checked;
* the game's own ``resample_from_infostate``, where it has one that knows no more than the player;
* in Hanabi ``HanabiWorlds``, which deals the player's own hand anew;
* else ``ReplayedWorlds``: histories with other chance outcomes and other moves of the others, in
  which the player sees the same at every moment.

All of them draw from one stream of random numbers, so that the same seed gives the same worlds.
"""

import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyspiel

from rave_agents.environments.worlds import UserWorlds
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.simulate.world_record import Pieces, RecordedWorlds
from rave_openspiel.hanabi_worlds import HanabiWorlds
from rave_openspiel.player_views import offers, viewer
from rave_openspiel.relabelled import relabelled
from rave_openspiel.replayed_worlds import ReplayedWorlds
from rave_openspiel.same_game import is_same_game
from rave_openspiel.uniform_moves import Unit

_log = logging.getLogger("rave_agents")

WorldFunction = Callable[[pyspiel.State, int, np.random.Generator], pyspiel.State]
"""The user's source of worlds, called as ``worlds(state, player, rng)``: it returns a new state
that looks like ``state`` to ``player``, and must not change ``state``."""

WorldSource = Callable[[], pyspiel.State]
"""Draws a new world at each call; the caller may change it."""


def view(state: pyspiel.State, player: int) -> str:
    """Return what a player sees at a state: their information state, or else their observation."""
    return viewer(state.get_game())(state, player)


def world_source(
    state: pyspiel.State, player: int, unit: Unit, worlds: WorldFunction | None = None
) -> WorldSource:
    """Return the source of worlds for a position.

    Args:
        state: the true position.
        player: the player to move there, whose knowledge counts.
        unit: draws random numbers.
        worlds: the user's own source, if any.

    Raises:
        UnsupportedGameError: if there is no source; the message says why.
    """
    if worlds is not None:
        return FunctionWorlds(state, player, unit, worlds)
    game = state.get_game()
    if resamples_at(state):
        return functools.partial(resampled, relabelled(state, player), player, unit)
    if game.get_type().short_name == "hanabi":
        return HanabiWorlds(state, player, unit)
    reason = no_worlds(game)
    if reason is not None:
        raise UnsupportedGameError(f"There are no worlds for {game}: {reason}.")
    return ReplayedWorlds(state, player, unit)


@functools.cache
def warn_seldom_settled(name: str) -> None:
    """Warn, once per game, that worlds may be less random than they should be."""
    if name in SELDOM_SETTLED:
        _log.warning(
            "rave_openspiel: in the middle of %s, the walk to the first world seldom comes to its "
            "end, and worlds may be less random than they should be. More simulations or seconds "
            "help; result.worlds.settled reports it, and worlds=function gives your own.",
            name,
        )
    if name in STARTS_AT_THE_TRUTH:
        _log.warning(
            "rave_openspiel: in the middle of %s, often no start of a walk is found without the "
            "true history, so that worlds may depend on what is hidden; result.worlds.method "
            "reports it, and worlds=function gives your own.",
            name,
        )


def recorded_worlds(
    state: pyspiel.State, player: int, unit: Unit, worlds: WorldFunction | None = None
) -> RecordedWorlds:
    """Return the worlds of ``world_source``, with a record of the draws."""
    source = world_source(state, player, unit, worlds)
    own = isinstance(source, functools.partial | HanabiWorlds)
    return RecordedWorlds(
        source,
        method="function" if worlds is not None else "resample_from_infostate",
        key=str,
        independent=own,
        pieces=None if own else functools.partial(hidden_pieces, player),
    )


def hidden_pieces(player: int, world: pyspiel.State) -> Pieces:
    """The actions of chance and the others in a world, between each two of the player's actions."""
    pieces: list[list[int]] = [[]]
    for move in world.full_history():
        if move.player == player:
            pieces.append([])
        else:
            pieces[-1].append(move.action)
    return pieces


def no_worlds(game: pyspiel.Game) -> str | None:
    """Return why only a user's function can be the source of a game's worlds; else None."""
    kind = game.get_type()
    reason = NO_WORLDS.get(kind.short_name)
    if reason is not None or resamples(game) or kind.short_name in DEALT_AT_ONCE:
        return reason
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return (
            "its chance mode is SAMPLED_STOCHASTIC, so that its outcomes can be neither listed nor "
            "drawn again"
        )
    if not (offers(game, "information_state_string") or offers(game, "observation_string")):
        return "it does not show what a player sees"
    return None


def resampled(state: pyspiel.State, player: int, unit: Unit) -> pyspiel.State:
    """Draw a world by the game's own method."""
    return state.resample_from_infostate(player, unit)


class FunctionWorlds(UserWorlds):
    """Worlds of the user's function, each checked.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
    """

    noun = "a state"

    def __init__(
        self, state: pyspiel.State, player: int, unit: Unit, function: WorldFunction
    ) -> None:
        super().__init__(state.clone(), player, unit, function, lambda true: true.clone())

    def _adopted(self, world: Any) -> pyspiel.State:
        if not isinstance(world, pyspiel.State):
            raise GameError(f"worlds must return a pyspiel.State, got {world!r}.")
        return world

    def _check_kind(self, world: pyspiel.State) -> None:
        game = self._position.get_game()
        if not is_same_game(world.get_game(), game):
            raise GameError(f"worlds returned a state of {world.get_game()}, not of {game}.")

    def _knowledge(self, position: pyspiel.State) -> Iterator[Any]:
        yield f"player {position.current_player()}"
        yield position.legal_actions()
        yield view(position, self._agent)


def resamples(game: pyspiel.Game) -> bool:
    """True if the worlds of the game's own method are used, with the parameters that it has."""
    trusted = RESAMPLING.get(game.get_type().short_name)
    if trusted is None:
        return False
    parameters = game.get_parameters()
    return all(parameters.get(name) == value for name, value in trusted.items())


def resamples_at(state: pyspiel.State) -> bool:
    """True if they are used at a state: not in a phase in which the method fails."""
    game = state.get_game()
    phase = REPLAYED_PHASES.get(game.get_type().short_name)
    return resamples(game) and (phase is None or f"Phase: {phase}" not in str(state))


RESAMPLING: Mapping[str, Mapping[str, object]] = {
    "bargaining": {"prob_end": 0.0},
    "blackjack": {},
    "bridge": {},
    "gin_rummy": {},
    "kuhn_poker": {},
    "leduc_poker": {"suit_isomorphism": False, "action_mapping": False},
    "universal_poker": {"numPlayers": 2, "boardCards": "", "handReaches": ""},
}
"""Games whose own method draws worlds from exactly what the player saw, and the parameters for
which it does: ``examples/own_worlds.py`` compares them with exact posteriors."""

REPLAYED_PHASES = {"gin_rummy": "Layoff"}
"""The phase of a game in which its own method gives the true position, which is then replayed."""

UNRELIABLE = {
    "colored_trails": "it never changes the offer that the player cannot see",
    "euchre": "its worlds may hold cards that the others cannot have, as they did not follow suit",
    "hearts": "its worlds may hold cards that the others cannot have, as they did not follow suit",
    "oh_hell": "it deals the others their own cards, in another order, and none of the deck's",
}
"""Games whose own method is not used, and why; their history is replayed instead."""

SELDOM_SETTLED = frozenset(
    [
        "coin_game",
        "crazy_eights",
        "cribbage",
        "dark_chess",
        "dou_dizhu",
        "hearts",
        "laser_tag",
        "python_liars_poker",
        "python_team_dominoes",
        "skat",
        "spades",
    ]
)
"""Games whose walk to the first world does not level off in the middle of a game with 500 or 1,000
simulations: ``WorldStatistics.settled`` is then False."""

STARTS_AT_THE_TRUTH = frozenset(["coin_game", "cribbage", "dou_dizhu"])
"""Games in which ``first_history`` often finds none in the middle of a game."""

DEALT_AT_ONCE = frozenset(["bridge_uncontested_bidding", "negotiation", "tarok"])
"""Games whose chance mode is SAMPLED_STOCHASTIC, but in which chance has moved before anybody else:
a clone knows no outcomes to come."""

NO_WORLDS = {
    "bridge_uncontested_bidding": (
        "its chance mode is SAMPLED_STOCHASTIC, dealing by the game's own generator, so "
        "that no deal can be chosen; a function may write one into the serialized state"
    ),
    "chat_game": "it has legal actions beyond its num_distinct_actions",
    "crossword": "its actions are structs, not numbers",
    "negotiation": (
        "its chance mode is SAMPLED_STOCHASTIC, drawing by the game's own generator, so that no "
        "utilities can be chosen; a function may write others into the serialized state"
    ),
    "tarok": (
        "its chance mode is SAMPLED_STOCHASTIC, dealing by the game's own generator, "
        "from a seed that no hand reveals, so no deal with the player's cards can be chosen; "
        "the remedy is a tarok with resample_from_infostate"
    ),
}
"""Games without worlds, and why."""
