"""Search agents for OpenSpiel's reinforcement-learning environments."""

from typing import Annotated, Any

import numpy as np
import pyspiel
from annotated_types import Ge
from open_spiel.python import rl_agent, rl_environment

from rave_agents.agents.named_agents import DEFAULT_AGENT, AgentSpec, make_agent
from rave_agents.game.arguments import check_arguments
from rave_agents.game.validation import checked, validated
from rave_openspiel.adapter import OpenSpielGame
from rave_openspiel.bots import seat_of
from rave_openspiel.load import AgentBot
from rave_openspiel.positions import moves_between, start_of
from rave_openspiel.same_game import is_same_game

_NOT_SERIALIZED = (
    "The time step's serialized_state is not the environment's position: OpenSpiel's serialization "
    "of some games lacks the start of a game that was set up"
)


class SearchRLAgent(rl_agent.AbstractAgent):  # type: ignore[misc]
    """An ``rl_agent.AbstractAgent`` that plays what a search finds.

    A search needs the whole state: make the environment with ``include_full_state=True``. The agent
    follows each game by the state's history, so that it can keep its tree, and starts again when a
    new game begins. It does not learn.

    Args:
        player_id: the seat, from 0.
        num_actions: length of the vector of probabilities,
            ``environment.action_spec()["num_actions"]``.
        game: the environment's game, ``environment.game``.
        agent: an agent's spec such as ``"rave(simulations=500)"``, or a ``pyspiel.Bot`` made for
            that game and seat.
        name: the agent's name, for loops that print it.
        **parameters: parameters of the named agent, such as ``simulations`` or ``seed``; the spec's
            own take precedence.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game.
        UnknownNameError: (a ValueError) if there is no agent of that name.
        TypeError, ValueError: for any other argument that is not allowed.

    """

    @validated
    def __init__(
        self,
        player_id: int,
        num_actions: int,
        game: pyspiel.Game,
        agent: str | AgentSpec | pyspiel.Bot = DEFAULT_AGENT,
        *,
        name: str = "search_agent",
        **parameters: Any,
    ) -> None:
        self._player_id: int = checked("player_id", seat_of(game), player_id)
        self.name = name
        """The agent's name."""
        least = game.num_distinct_actions()
        self._num_actions: int = checked("num_actions", Annotated[int, Ge(least)], num_actions)
        self._game = game
        self._bot = _make_bot(agent, OpenSpielGame(game), self._player_id, parameters)
        self._chosen: int | None = None
        self._state: pyspiel.State | None = None

    @property
    def player_id(self) -> int:
        """The seat, for which the agent was made."""
        return self._player_id

    def step(
        self, time_step: rl_environment.TimeStep, is_evaluation: bool = False
    ) -> rl_agent.StepOutput | None:
        """Search and choose an action.

        Args:
            time_step: the environment's last time step.
            is_evaluation: without effect on a search.

        Returns:
            The action, and the probability of each action as an array of length ``num_actions``;
            None if the game is over or another player is to move.

        Raises:
            ValueError: if the time step has no full state, or one of another game.

        """
        if time_step.last():  # RL loops step all agents once more at the end.
            self._restart()
            self._state = None
            return None
        mover = time_step.observations["current_player"]
        if mover not in (self.player_id, pyspiel.PlayerId.SIMULTANEOUS):
            return None
        state = self._full_state(time_step)
        self._follow(state)
        if self._bot.provides_policy():
            policy, action = self._bot.step_with_policy(state)
        else:
            action = self._bot.step(state)
            policy = [(action, 1.0)]
        self._chosen = action
        probabilities = np.zeros(self._num_actions)
        for legal_action, probability in policy:
            probabilities[legal_action] = probability
        return rl_agent.StepOutput(action=action, probs=probabilities)

    def _full_state(self, time_step: rl_environment.TimeStep) -> pyspiel.State:
        serialized = time_step.observations.get("serialized_state")
        if not serialized:
            raise ValueError(
                "The time step has no serialized_state, which a search needs: make the environment "
                "with include_full_state=True."
            )
        try:
            game, state = pyspiel.deserialize_game_and_state(serialized)
        except pyspiel.SpielError as error:
            raise ValueError(f"{_NOT_SERIALIZED} ({error}).") from error
        if not is_same_game(game, self._game):
            raise ValueError(f"This agent plays {self._game}, but the environment plays {game}.")
        # The environment's own list comes from its true state, and exposes a lost start.
        shown = time_step.observations["legal_actions"][self.player_id]
        legal = state.legal_actions(self.player_id)
        if sorted(shown) != sorted(legal):
            raise ValueError(f"{_NOT_SERIALIZED} (it allows {legal}, not {list(shown)}).")
        return state

    def _follow(self, state: pyspiel.State) -> None:
        """Pass the bot all actions since its last move, or since the start of the game.

        If the game's start is unknown, it gets none and begins at this state.
        """
        seen = self._state
        moves = None if seen is None else moves_between(seen, state)
        if moves is None:
            self._restart()
            seen = start_of(state)
            moves = [] if seen is None else state.history()[len(seen.history()) :]
        self._state, place = state, 0
        while seen is not None and place < len(moves):
            if seen.is_simultaneous_node():  # The kept tree does not follow joint actions.
                self._restart()
                joint = moves[place : place + seen.num_players()]
                seen.apply_actions(joint)
                place += len(joint)
                continue
            self._inform(seen, moves[place])
            seen.apply_action(moves[place])
            place += 1

    def _restart(self) -> None:
        self._bot.restart()
        self._chosen = None

    def _inform(self, state: pyspiel.State, action: int) -> None:
        """Inform the bot of an action, unless it has just chosen it itself."""
        player = state.current_player()
        # Bots know their own moves; a named agent follows the game by all moves.
        if player != self._player_id or isinstance(self._bot, AgentBot):
            self._bot.inform_action(state, player, action)
        # The loop played another action for it, as with exploration.
        elif action != self._chosen and self._bot.provides_force_action():
            self._bot.force_action(state, action)


def _make_bot(
    agent: str | AgentSpec | pyspiel.Bot,
    game: OpenSpielGame,
    player_id: int,
    parameters: dict[str, Any],
) -> pyspiel.Bot:
    if isinstance(agent, pyspiel.Bot):
        if parameters:
            raise TypeError(
                f"A bot has its parameters already; these go with an agent's name: "
                f"{', '.join(parameters)}."
            )
        return agent
    spec = AgentSpec.parse(agent) if isinstance(agent, str) else agent
    check_arguments(f"parameter of {spec.name}", parameters, spec.kind.parameters)
    return AgentBot(make_agent(spec, game, player_id, **parameters), player_id)
