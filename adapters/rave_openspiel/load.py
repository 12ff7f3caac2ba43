"""Loads bots by name: this package's and those in OpenSpiel's registry."""

from collections.abc import Mapping
from typing import Any

import pyspiel

from rave_agents.agents.named_agents import AgentSpec, agent_types, make_agent
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.frameworks.agent import Agent, AgentAbilities
from rave_agents.game.arguments import unknown_name
from rave_agents.game.validation import checked
from rave_agents.searcher.checks import check_hidden, check_moves
from rave_openspiel import named_bots
from rave_openspiel.bot_type import Bot
from rave_openspiel.bots import SearchBot, seat_of
from rave_openspiel.support import hides_information, plays, searches_joint_moves

BOT_TYPES: dict[str, type[SearchBot]] = {
    kind.preset: kind for kind in vars(named_bots).values() if kind in SearchBot.__subclasses__()
}
"""This package's bots by name."""

PARAMETERS = ("simulations", "seconds", "clock", "seed", "verbose")
"""Parameters that each bot takes in addition to the fields of ``SearchConfig`` and its parts."""


class AgentBot(Bot):
    """A named agent as a bot, such as ``mcts`` or ``random``.

    Args:
        agent: the agent, made for a seat.
        player: the seat, from 0.
    """

    def __init__(self, agent: Agent, player: int) -> None:
        super().__init__()
        self.agent = agent
        """The agent itself."""
        self.player_id = player
        """The seat."""

    def step(self, state: pyspiel.State) -> int:
        """Return the agent's action."""
        return int(self.agent.step(as_game_state(state)))

    def provides_policy(self) -> bool:
        """Return True: the bot has ``step_with_policy``."""
        return True

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Return the probability of each action, and the action drawn from them.

        Agents without a search play their action with probability 1.
        """
        action = self.step(state)
        result = AgentAbilities(self.agent).last_result
        return ([(action, 1.0)] if result is None else result.policy), action

    def inform_action(self, state: pyspiel.State, player: int, action: int) -> None:
        """Inform the agent of a player's action."""
        self.agent.inform_action(as_game_state(state), player, action)

    def restart(self) -> None:
        """Start a new game."""
        self.agent.restart()

    def restart_at(self, state: pyspiel.State) -> None:
        """Start a new game at a state."""
        self.agent.restart()


def load_bot(
    bot_name: str, game: pyspiel.Game, player: int, params: Mapping[str, Any] | None = None
) -> pyspiel.Bot:
    """Load a bot by its name, as ``pyspiel.load_bot`` does, without a compiler.

    This package's bots are returned as ``SearchBot`` objects, its other named agents, such as
    ``mcts``, as ``AgentBot`` objects; any other name goes to ``pyspiel.load_bot``.

    Args:
        bot_name: such as ``"rave"`` or ``"rave(simulations=500)"``.
        game: the game to play.
        player: the bot's seat, from 0.
        params: the parameters, if the name has none: ``simulations``, ``seconds``, ``clock``,
            ``seed``, ``verbose`` and those of ``SearchConfig.replace``; parts as their specs, such
            as ``"hand_selected(k=300)"``. ``rave-agents agents`` lists those of other agents.

    Raises:
        UnknownNameError: (a ValueError) for an unknown name or parameter; the message offers the
            nearest.
        UnsupportedGameError: (a ValueError) if the search cannot play the game.
        TypeError, ValueError: for a value that is not allowed, or parameters given in both places.
        pyspiel.SpielError: if OpenSpiel refuses a bot of its own.
    """
    name = bot_name.partition("(")[0].strip()
    # Ours first, registered or not: a factory in the registry makes the same bot through C++.
    if name in BOT_TYPES or name in _other_agents():
        spec = AgentSpec.parse(bot_name)
        if spec.parameters and params:
            raise ValueError("Give the parameters in the name or in params, not in both.")
        parameters = params or spec.parameters
        if name in BOT_TYPES:
            return make_bot(name, game, player, parameters)
        checked("player", seat_of(game), player)
        return AgentBot(make_agent(AgentSpec(name, dict(parameters)), game, player), player)
    if name not in pyspiel.registered_bots():
        raise UnknownNameError(unknown_name("bot", name, registered_bots()))
    if params is None:  # The overload without params is the one that parses "name(...)".
        return pyspiel.load_bot(bot_name, game, player)
    return pyspiel.load_bot(bot_name, game, player, dict(params))


def make_bot(
    name: str, game: pyspiel.Game, player: int, parameters: Mapping[str, Any]
) -> SearchBot:
    """Make this package's bot of this name; see ``load_bot``."""
    preset = SearchConfig.preset(name)
    what, see = f"parameter of {name}", f"help({BOT_TYPES[name].__name__})"
    preset.check_changes(what, parameters, PARAMETERS, UnknownNameError, see)
    return BOT_TYPES[name](game, player_id=player, **parameters)


def can_play(name: str, game_type: pyspiel.GameType) -> bool:
    """True if this package's bot of this name can play games of a type.

    For a name that is not a preset, the answer depends on the game alone.
    """
    if not plays(game_type):
        return False
    if name not in SearchConfig.preset_names():
        return True
    config = SearchConfig.preset(name)
    try:
        check_moves(config, simultaneous=searches_joint_moves(game_type, config))
        if hides_information(game_type):
            check_hidden(config, simultaneous=False)
    except UnsupportedGameError:
        return False
    return True


def registered_bots() -> list[str]:
    """List the names that ``load_bot`` takes: this package's and OpenSpiel's."""
    return sorted({*BOT_TYPES, *_other_agents(), *pyspiel.registered_bots()})


def _other_agents() -> list[str]:
    """Named agents without a bot of their own that are not in OpenSpiel's registry."""
    return [name for name in agent_types() if name not in {*BOT_TYPES, *pyspiel.registered_bots()}]


def _can_make(name: str, game: pyspiel.Game, player: int) -> bool:
    """True if a named agent without a bot of its own can be made for a seat, without parameters."""
    try:
        make_agent(name, game, player)
    except (TypeError, ValueError):
        return False
    return True


def bots_that_can_play_game(game: pyspiel.Game, player: int | None = None) -> list[str]:
    """List the ``registered_bots`` that can play the game as this player; None for any player."""
    seats = range(game.num_players())
    fits = player is None or player in seats
    own = [name for name in BOT_TYPES if fits and can_play(name, game.get_type())]
    own += [name for name in _other_agents() if fits and _can_make(name, game, player or 0)]
    stock = (
        pyspiel.bots_that_can_play_game(game)
        if player is None
        else pyspiel.bots_that_can_play_game(game, player)
    )
    # After ``register_bots`` OpenSpiel lists ours too: ``own`` has decided on those already.
    return sorted({*own, *(set(stock) - BOT_TYPES.keys())})
