"""Analysis of one position by an agent, as ``rave-agents search`` prints it."""

import dataclasses
import os
from typing import Any

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import make_agent
from rave_agents.arena.arguments import limited_agent
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    legal_actions_of,
    moving_players,
)
from rave_agents.game.notation import Moves, action_name, legal_names, position_text
from rave_agents.game.validation import validated
from rave_agents.records.positions import set_up
from rave_agents.results.search_result import SearchResult


@dataclasses.dataclass(frozen=True, kw_only=True)
class Analysis:
    """A position and the move that an agent chose there."""

    game: str
    """The game's name as the caller gave it."""
    agent: str
    """The agent's spec with its limit."""
    seed: int
    """The agent's seed; without effect for an agent that takes none."""
    moves: tuple[int, ...]
    """The actions that led to the position, chance outcomes included."""
    state: GameState
    """The position."""
    action: int
    """The chosen move."""
    result: SearchResult | None
    """The result of the agent's search; None for an agent without one."""
    player: int
    """The player who chose the move."""

    @property
    def action_name(self) -> str:
        """The chosen move as the game prints it."""
        return action_name(self.state, self.action, self.player)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the search result's included."""
        found = {} if self.result is None else self.result.to_dict()
        return {
            "game": self.game,
            "agent": self.agent,
            "seed": self.seed,
            "moves": list(self.moves),
            "position": position_text(self.state),
            "player": self.player,
            "action": self.action,
            "action_name": self.action_name,
            **found,
        }


@validated
def analyse(
    game: Any,
    agent: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    player: int = 0,
) -> Analysis:
    """Choose a move with an agent.

    Args:
        game: the game or its name, such as ``"hex(board_size=7)"``; see ``as_game``.
        agent: the agent: its spec, such as ``"rave(simulations=500)"``, or one of your own, see
            ``as_agent``.
        moves: the moves to play first, a text or a sequence of actions, see
            ``rave_agents.game.notation.apply_moves``.
        position: the starting position of these, see ``rave_agents.records.positions.set_up``.
        simulations: simulations for an agent whose spec has no limit; 1,000 if ``seconds`` is not
            given either.
        seconds: wall-clock seconds for an agent whose spec has no limit.
        seed: an integer of at least 0.
        player: the player to choose for, where players move at the same time.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game cannot be searched or the agent cannot play it.
        TypeError, ValueError: for a value that is not allowed, an illegal move, or a position where
            no player is to move.
    """
    loaded = as_game(game)
    who = limited_agent(agent, simulations, seconds)
    state, played = decision_after(loaded, moves, position)
    seat = _chosen_seat(state, player)
    mover = make_agent(who, loaded, seat, seed=seed)
    # A copy: the user's agent may change the state it is given.
    action = checked_action(mover.step(state.clone()), legal_actions_of(state, seat))
    return Analysis(
        game=game if isinstance(game, str) else loaded.name,
        agent=str(who),
        seed=seed,
        moves=tuple(played),
        state=state,
        action=action,
        result=AgentAbilities(mover).last_result,
        player=seat,
    )


def _chosen_seat(state: GameState, player: int) -> int:
    if not is_simultaneous(state):
        return int(state.current_player())
    if player not in moving_players(state):
        raise ValueError(
            f"player must have a legal action at this position, one of {moving_players(state)}: "
            f"got {player}."
        )
    return player


def decision_after(
    game: Game, moves: Moves, position: str | os.PathLike[str] | None = None
) -> tuple[GameState, list[int]]:
    """The position after some moves, at which a player is to move, and the moves as actions.

    Args:
        game: the game.
        moves: the moves.
        position: their starting position, see ``set_up``.

    Raises:
        ValueError: for an illegal move or no position, or where the game is over or chance is to
            move.
        OSError: if a file cannot be read.
    """
    state, actions, _ = set_up(game, moves, position)
    played = list(actions or ())
    if state.is_terminal():
        raise ValueError(f"The game is over: the returns are {list(state.returns())}.")
    if state.is_chance_node():
        names = list(legal_names(state).values())
        raise ValueError(
            f"Chance is to move: add one of its {len(names)} outcomes to the moves, such as "
            f"'{names[0]}' or a number."
        )
    return state, played
