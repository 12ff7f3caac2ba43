"""One game between two agents, and what it needs: an opening, seats, chance, seeds.

Game number ``2 i`` and ``2 i + 1`` start from opening ``i`` and see the same chance outcomes drawn;
the first agent has seat 0 in the one and seat 1 in the other. Openings, chance and agents have
streams of their own, derived from the match's seed and the number of the game alone.
"""

import contextlib
import dataclasses
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rave_agents.agents.named_agents import AgentSpec, agent_type, make_agent
from rave_agents.arena.referee import Referee, decided_returns
from rave_agents.errors import ForfeitError, GameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game, seeded_start
from rave_agents.frameworks.agent import Agent, Effort
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.gtp.process import EngineFailedError
from rave_agents.searcher.clock import Clock

OPENING_TRIES = 1000
"""Openings that are drawn before it is given up to find one that does not end the game."""

_OPENINGS, _CHANCE, _AGENTS, _STARTS = 0, 1, 2, 3
"""The streams of a match."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game."""

    number: int
    """Its number in the match, from 0."""
    first_seat: int
    """The seat of the match's first agent: 0 or 1."""
    opening: tuple[int, ...]
    """The random actions and chance outcomes that it started with."""
    actions: tuple[int, ...]
    """All actions and chance outcomes, those of the opening included; where players move at the
    same time, one action of each."""
    returns: tuple[float, float]
    """What seat 0 and seat 1 won, in the game's utilities."""
    efforts: tuple[Effort, Effort]
    """What the first and the second agent spent."""
    ending: str = ""
    """Why the game ended otherwise than by its rules, such as ``seat 1 resigned``; else empty."""
    fault: bool = False
    """Whether the loser failed or broke the rules, so that the game says little of their play."""

    @property
    def margin(self) -> float:
        """The first agent's return less the second's: the first won if it is above 0."""
        return self.returns[self.first_seat] - self.returns[1 - self.first_seat]


@dataclasses.dataclass(frozen=True)
class Fixture:
    """One game to be played."""

    number: int
    """Its number in the match, from 0."""
    seed: int
    """The match's seed."""
    opening: tuple[int, ...]
    """The actions and chance outcomes to start with."""

    @property
    def first_seat(self) -> int:
        """The seat of the match's first agent."""
        return self.number % 2

    @property
    def pair(self) -> int:
        """The number that this game has in common with the one from the same opening."""
        return self.number // 2

    def index_at(self, seat: int) -> int:
        """Which agent has this seat: 0 for the first, 1 for the second."""
        return (seat + self.first_seat) % 2


@dataclasses.dataclass(frozen=True)
class Table:
    """What all games of a match share."""

    game: Game
    """The game, for two players."""
    specs: tuple[AgentSpec, AgentSpec]
    """The specs of the first and the second agent, with their limits."""
    clock: str | None = None
    """The time that each side has for a game, see ``Clock.parse``; None for all that it likes."""
    referee: AgentSpec | None = None
    """The spec of a GTP program that checks moves and results; None for none."""
    forfeit: bool = False
    """Whether a GTP program that does not play at all loses its games, in place of an error."""


class AgentFailedError(Exception):
    """An agent raised the cause of this exception, or its action is the cause."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat)
        self.seat = seat
        """Where the agent sits."""


class _LostError(Exception):
    """A seat loses the game otherwise than by its rules."""

    def __init__(self, seat: int, reason: str, *, fault: bool = False) -> None:
        super().__init__(reason)
        self.seat = seat
        self.reason = reason
        self.fault = fault


def play_game(table: Table, fixture: Fixture) -> GameRecord:
    """Play one game of a match.

    Both agents are told of every action and chance outcome, those of the opening and their own
    included, before it is applied. An agent that raises ``ForfeitError``, oversteps its time, or
    whose move the referee refuses, loses the game; so does a GTP program that does not play at all,
    where the table has ``forfeit``. Agents that have a method ``close`` are told when the game is
    over.

    Raises:
        AgentFailedError: from whatever else an agent raises, or for an action that is not legal.
        Exception: whatever the game or the referee raises, unchanged.
    """
    agents = _make_agents(table, fixture)
    with contextlib.ExitStack() as stack:
        for agent in agents:
            stack.callback(getattr(agent, "close", lambda: None))
        referee = None if table.referee is None else Referee(table.referee, table.game)
        if referee is not None:
            stack.callback(referee.close)
        return _play(table, fixture, agents, referee)


def _play(
    table: Table, fixture: Fixture, agents: tuple[Agent, Agent], referee: Referee | None
) -> GameRecord:
    state = _start(table.game, fixture.seed, fixture.pair)
    actions: list[int] = []
    ending, fault = "", False
    try:
        _play_moves(table, fixture, agents, referee, state, actions)
        returns = [float(value) for value in state.returns()]
        if referee is not None:
            returns, ending = referee.result(returns, state)
    except AgentFailedError as failed:
        if not (table.forfeit and isinstance(failed.__cause__, EngineFailedError)):
            raise
        ending, fault = f"seat {failed.seat} failed: {failed.__cause__}", True
        returns = decided_returns(state, 1 - failed.seat)
    except _LostError as lost:
        ending, fault = f"seat {lost.seat} {lost.reason}", lost.fault
        returns = decided_returns(state, 1 - lost.seat)
    return GameRecord(
        number=fixture.number,
        first_seat=fixture.first_seat,
        opening=fixture.opening,
        actions=tuple(actions),
        returns=(returns[0], returns[1]),
        efforts=(agents[0].effort, agents[1].effort),
        ending=ending,
        fault=fault,
    )


def _play_moves(
    table: Table,
    fixture: Fixture,
    agents: tuple[Agent, Agent],
    referee: Referee | None,
    state: Any,
    actions: list[int],
) -> None:
    """Play from ``state`` to the end, in it, and note all actions."""
    seats = [agents[fixture.index_at(seat)] for seat in (0, 1)]
    clocks = [None if table.clock is None else Clock.parse(table.clock) for _ in seats]
    chance = _stream(fixture.seed, _CHANCE, fixture.pair)
    opening = iter(fixture.opening)
    for seat, agent in enumerate(seats):
        _ask(seat, agent.restart)
    while not state.is_terminal():
        if is_simultaneous(state):
            joint = _joint_choice(state, seats, clocks, opening)
            for seat, agent in enumerate(seats):
                if hasattr(agent, "inform_actions"):
                    _ask(seat, agent.inform_actions, state, joint)
            state.apply_actions(joint)
            actions += joint
            continue
        mover = int(state.current_player())
        action = next(opening, None)
        if action is None and state.is_chance_node():
            action = draw_outcome(state, chance)
        elif action is None:
            player = _mover(state)
            action = _timed_choice(player, seats[player], state, clocks[player])
        if referee is not None and (refusal := referee.refusal(action)) is not None:
            reason = f"made a move that the referee refuses: {refusal}"
            raise _LostError(mover, reason, fault=True)
        for seat, agent in enumerate(seats):
            _ask(seat, agent.inform_action, state, mover, action)
        state.apply_action(action)
        actions.append(action)


def draw_opening(game: Game, plies: int, seed: int, pair: int) -> tuple[int, ...]:
    """Draw random actions after which the game still goes on.

    Args:
        game: the game.
        plies: actions of players, those at the same time counted once; chance outcomes on the way
            are drawn too and not counted.
        seed: the match's.
        pair: the number of the two games that start with it.

    Raises:
        ValueError: if every opening drawn ends the game.
    """
    random = _stream(seed, _OPENINGS, pair)
    for _ in range(OPENING_TRIES):
        state = _start(game, seed, pair)
        actions: list[int] = []
        left = plies
        while left > 0 and not state.is_terminal():
            if is_simultaneous(state):
                joint = random_joint_action(state, random)
                left -= 1
                state.apply_actions(joint)  # type: ignore[attr-defined]
                actions += joint
                continue
            if state.is_chance_node():
                action = draw_outcome(state, random)
            else:
                _mover(state)
                action = int(random.choice(_some_actions(game, state.legal_actions())))
                left -= 1
            state.apply_action(action)
            actions.append(action)
        if not state.is_terminal():
            return tuple(actions)
    raise ValueError(
        f"{OPENING_TRIES} random openings of {plies} plies all ended the game {game.name}: "
        "choose fewer opening plies."
    )


def _some_actions(game: Game, actions: Sequence[int]) -> Sequence[int]:
    if len(actions) == 0:
        raise GameError(f"{game.name} is not over, and the player to move has no legal action.")
    return actions


def random_joint_action(state: Any, random: np.random.Generator) -> list[int]:
    """Draw an action for each who moves at the same time."""
    movers = moving_players(state)
    drawn = [int(random.choice(state.legal_actions(mover))) for mover in movers]
    return joint_action(movers, drawn, state.num_players())


def draw_outcome(state: GameState, random: np.random.Generator) -> int:
    """Draw an outcome of a chance node by its probability."""
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    weights = np.array(probabilities)
    return int(outcomes[random.choice(len(outcomes), p=weights / weights.sum())])


def initial_decision(game: Game, seed: int) -> GameState:
    """Return the first position where a player is to move, after chance outcomes drawn."""
    state = _start(game, seed, 0)
    random = _stream(seed, _CHANCE)
    while state.is_chance_node():
        state.apply_action(draw_outcome(state, random))
    return state


def warm_up(spec: AgentSpec, game: Game) -> None:
    """Let an agent that counts simulations run a few.

    What is compiled or loaded once in a process is then not part of any measured time. Should the
    agent fail, so it will in its first game, and there it is told who failed where.
    """
    if "simulations" not in agent_type(spec.name).parameters:
        return
    parameters = {**spec.parameters, "simulations": 2, "seed": 0}
    for limit in ("seconds", "clock"):
        parameters.pop(limit, None)
    state = initial_decision(game, 0)
    seat = max(0, int(state.current_player()))
    agent = make_agent(AgentSpec(spec.name, parameters), game, seat)
    with contextlib.suppress(Exception):
        agent.step(state)


def _make_agents(table: Table, fixture: Fixture) -> tuple[Agent, Agent]:
    agents = []
    for index, spec in enumerate(table.specs):
        stream = np.random.SeedSequence([fixture.seed, _AGENTS, fixture.number, index])
        seeded = spec.with_defaults({"seed": int(stream.generate_state(1)[0])})
        agents.append(make_agent(seeded, table.game, fixture.index_at(index)))
    return agents[0], agents[1]


def _ask(seat: int, method: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except ForfeitError as error:
        raise _LostError(seat, str(error), fault=error.fault) from error
    except Exception as error:
        raise AgentFailedError(seat) from error


def _timed_choice(seat: int, agent: Agent, state: GameState, clock: Clock | None) -> int:
    """The agent's action, if its clock, which runs meanwhile, leaves it the time."""
    started = time.perf_counter()
    action = _ask(seat, _choose, agent, state, seat)
    if clock is not None and not clock.charge(time.perf_counter() - started):
        raise _LostError(seat, "lost on time")
    return int(action)


def _joint_choice(
    state: Any, seats: Sequence[Agent], clocks: Sequence[Clock | None], opening: Iterator[int]
) -> list[int]:
    """One action of each seat, of the opening or as the agents choose: none sees the others'."""
    given = [action for _, action in zip(seats, opening, strict=False)]
    if given:
        return given
    movers = moving_players(state)
    chosen = [_timed_choice(seat, seats[seat], state, clocks[seat]) for seat in movers]
    return joint_action(movers, chosen, len(seats))


def _choose(agent: Agent, state: GameState, player: int) -> int:
    """The agent's action, checked. It gets a clone: whatever it does, the game stays whole."""
    answer = agent.step(state.clone())
    legal = legal_actions_of(state, player)
    try:
        action = operator.index(answer)
    except TypeError:
        raise TypeError(
            f"step() must return an action, an integer; it returned {answer!r}."
        ) from None
    if action not in legal:
        raise ValueError(f"it played {action}, which is not legal; legal are {list(legal)}.")
    return action


def _mover(state: GameState) -> int:
    """The seat to move, at a state that is not terminal and not chance's."""
    player = int(state.current_player())
    if player not in (0, 1):
        raise UnsupportedGameError(f"No single player is to move: current_player() is {player}.")
    return player


def _start(game: Game, seed: int, pair: int) -> GameState:
    """The start of both games of a pair: where states draw chance themselves, they draw alike."""
    return seeded_start(game, lambda: int(_stream(seed, _STARTS, pair).integers(2**31)))


def _stream(*path: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(path))
