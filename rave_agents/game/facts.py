"""``Facts``: a game's properties, asked once for all of its positions."""

from collections.abc import Hashable
from typing import Annotated, NamedTuple

from annotated_types import Ge, Le

from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    draws_chance,
    has_chance_nodes,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.game.utility_limits import MOST_ACTIONS, UtilityLimits, utility_limits
from rave_agents.game.validation import checked


class Facts(NamedTuple):
    """A game's properties, the same for all of its positions; see ``facts_of``."""

    key: Hashable
    """Equal for states of the same game: ``game_key()``, or the class of the states."""
    limits: UtilityLimits
    """The number of players, and the bounds and sum of the utilities."""
    num_actions: int
    """One more than the largest action."""
    chance: bool
    """False if there are no chance nodes."""
    simultaneous: bool
    """True if players may move at the same time."""
    hidden: bool
    """True if information is hidden from players."""
    draws_chance: bool
    """True if states draw random outcomes of actions themselves."""
    observations: bool
    """True if states have observations for learning."""

    @property
    def num_players(self) -> int:
        """The number of players."""
        return self.limits.players

    def determinizes(self, hidden: str) -> bool:
        """True if each simulation of a search starts from its own determinization.

        Args:
            hidden: ``SearchConfig.hidden``.
        """
        # Chance drawn by the state itself cannot be enumerated: it is sampled like hidden cards.
        return self.draws_chance or (self.hidden and hidden == "determinize")


def facts_of(state: GameState) -> Facts:
    """The facts of a state's game, from the state itself if it keeps them.

    Raises:
        GameError: if the game's numbers of players or actions, or its utilities, are invalid.
    """
    kept = StateAbilities(state).facts
    return collected_facts(state) if kept is None else kept()


def collected_facts(state: GameState) -> Facts:
    """Ask a state for the facts of its game.

    Raises:
        GameError: as ``facts_of``.
    """
    offers = StateAbilities(state)
    limits = utility_limits(state)
    return Facts(
        key=type(state) if offers.game_key is None else offers.game_key(),
        limits=limits,
        num_actions=checked(
            "num_distinct_actions",
            Annotated[int, Ge(1), Le(MOST_ACTIONS)],
            state.num_distinct_actions(),
            GameError,
        ),
        chance=has_chance_nodes(state),
        simultaneous=has_simultaneous_moves(state),
        hidden=hides_information(state),
        draws_chance=draws_chance(state),
        observations=offers.observation is not None,
    )


def is_keyed(state: GameState) -> bool:
    """True if a state's provider or the state itself has position keys."""
    offers = StateAbilities(state)
    # Compiled rules have their own keys, even where the framework's state has none.
    if offers.on_compiled_rules is not None:
        return offers.on_compiled_rules() is not None
    return offers.position_key is not None and offers.position_key() is not None
