"""Replays a finished game move by move, optionally with its agents' searches.

Files do not contain searches: agents search again with the same seeds, and with limits of
simulations they obtain the same results.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import AgentSpec, agent_type, make_agent
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.plain_games import (
    FAILED,
    answer_items,
    bounded,
    make_plain_game,
    reason_of,
)
from rave_agents.game.game_state import joint_action
from rave_agents.records.openings import agent_seed, start_state
from rave_agents.records.reader import Ply, plies
from rave_agents.records.record import GameRecord
from rave_agents.results.search_result import SearchResult


class Step(NamedTuple):
    """A position of a game and the move played there."""

    ply: Ply
    """The position, and the actions taken there."""
    mover: int | None
    """Index of the agent that moved, 0 for the match's first; None for chance, openings,
    simultaneous moves and the end."""
    result: SearchResult | None
    """The agent's search of the position; None if it does not search here."""


def replay(
    game: Game, agents: tuple[AgentSpec | None, AgentSpec | None], record: GameRecord, seed: int
) -> Iterator[Step]:
    """The positions of a game from start to end.

    Args:
        game: the game.
        agents: the specs of the first and second agent; None for agents that do not search again.
        record: the game.
        seed: the match's seed.

    Raises:
        ValueError: if an action is not legal, or there are too few or too many.
        Exception: any exception of the game.
    """
    thinkers = [_thinker(game, who, record, seed, index) for index, who in enumerate(agents)]
    informed = [thinker for thinker in thinkers if thinker is not None]
    done = 0
    for ply in plies(start_state(game, seed, record.pair), record.actions, joint=True):
        state, result, mover = ply.state, None, None
        if len(ply.players) > 1:
            for thinker in informed:
                thinker.inform_actions(
                    state, joint_action(ply.players, ply.actions, state.num_players())
                )
        elif ply.actions:
            # Nobody chose the moves of the opening, and agents searched none of its positions.
            if ply.players and done >= len(record.opening):
                mover = (ply.players[0] + record.first_seat) % 2
            if mover is not None and thinkers[mover] is not None:
                thinkers[mover].step(state.clone())
                result = thinkers[mover].last_result
            for thinker in informed:
                thinker.inform_action(state, int(state.current_player()), ply.actions[0])
        yield Step(ply, mover, result)
        done += len(ply.actions)


def _thinker(game: Game, who: AgentSpec | None, record: GameRecord, seed: int, index: int) -> Any:
    """Make the agent, if it reports its searches."""
    if who is None or agent_type(who.name).config is None:
        return None
    seeded = who.with_defaults({"seed": agent_seed(seed, record.number, index)})
    agent = make_agent(seeded, game, (record.first_seat + index) % 2)
    agent.restart()
    return agent


def reasons_against(games: Sequence[tuple[str, int, GameRecord]]) -> list[str]:
    """The reasons why games from a file cannot be replayed here; empty for those that can.

    Another process replays them first, with bounds on its memory and time, see ``plain_games``.

    Args:
        games: for each game its name in the file, the match's seed and the record.
    """
    requests = [(game, seed, record.to_dict()) for game, seed, record in games]
    reasons = bounded("rave_agents.web.replay", requests)
    return [FAILED if reason is None else reason for reason in reasons]


def _reason_against(request: Any) -> str:
    game, seed, values = request
    try:
        record = GameRecord.from_dict(values)
        for step in replay(make_plain_game(game), (None, None), record, seed):
            str(step.ply.state)
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_reason_against)
