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
from rave_agents.game.game_state import NO_ACTION, is_simultaneous
from rave_agents.game.notation import action_name
from rave_agents.records.openings import agent_seed, start_state
from rave_agents.records.record import GameRecord
from rave_agents.results.search_result import SearchResult


class Step(NamedTuple):
    """A position of a game and the move played there."""

    state: Any
    """The position, before the move."""
    action: int | None
    """The action played; None at the end and for simultaneous moves."""
    move: str
    """The move in the game's notation; empty at the end."""
    mover: int | None
    """Index of the agent that moved, 0 for the match's first; None for chance, openings and the
    end."""
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
    state = start_state(game, seed, record.pair)
    thinkers = [_thinker(game, who, record, seed, index) for index, who in enumerate(agents)]
    actions = list(record.actions)
    done = 0
    while done < len(actions) and not state.is_terminal():
        before = state.clone()
        if is_simultaneous(state):
            joint = actions[done : done + state.num_players()]
            _check_joint(state, joint, done)
            words = [action_name(state, a, p) for p, a in enumerate(joint)]
            for thinker in filter(None, thinkers):
                thinker.inform_actions(before, joint)
            state.apply_actions(joint)  # type: ignore[attr-defined]
            done += len(joint)
            yield Step(before, None, ", ".join(words), None, None)
            continue
        player, action = int(state.current_player()), actions[done]
        _check_legal(_choices(state), action, done)
        plays = done >= len(record.opening) and not state.is_chance_node()
        mover = (player + record.first_seat) % 2 if plays else None
        thinker = None if mover is None else thinkers[mover]
        result = None
        if thinker is not None:
            thinker.step(before.clone())
            result = thinker.last_result
        move = action_name(state, action)
        for each in filter(None, thinkers):
            each.inform_action(before, player, action)
        state.apply_action(action)
        done += 1
        yield Step(before, action, move, mover, result)
    if done < len(actions):
        raise ValueError(f"The game is over after {done} of {len(actions)} actions.")
    yield Step(state, None, "", None, None)


def _choices(state: Any) -> Sequence[int]:
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    actions: Sequence[int] = state.legal_actions()
    return actions


def _check_joint(state: Any, joint: Sequence[int], done: int) -> None:
    if len(joint) < state.num_players():
        raise ValueError(f"The actions end with {len(joint)} of those at the same time.")
    for player, action in enumerate(joint):
        _check_legal(list(state.legal_actions(player)) or [NO_ACTION], action, done + player)


def _check_legal(legal: Sequence[int], action: int, number: int) -> None:
    """Check an action here, since a framework may read out of bounds for an invalid one."""
    if action not in legal:
        raise ValueError(f"Action {action}, number {number + 1} of the game, is not legal.")


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
            str(step.state)
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_reason_against)
