"""The side of an agent: it is sent positions and answers, in a thread or a process of its own."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import make_agent
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.game_state import legal_actions_of
from rave_agents.results.search_result import SearchResult
from rave_agents.sessions.thought import Thought


class Setup(NamedTuple):
    """The agent to make."""

    agent: Any
    game: Any
    seat: int
    seed: int


class Ask(NamedTuple):
    """Choose an action."""

    number: int
    """The number of the question, which its answers have, too."""
    state: Any
    time_left: tuple[float, int] | None
    """The clock, as ``Clock.set_left`` takes it; None without one."""


class Prepare(NamedTuple):
    """Make the agent, and compile or load what it needs at a position."""

    number: int
    state: Any


class Ready(NamedTuple):
    """All is prepared."""

    number: int


class Inform(NamedTuple):
    """Somebody has played."""

    state: Any
    """The position before it."""
    player: int
    actions: tuple[int, ...]
    joint: bool
    """True where players moved at the same time."""


class Restart(NamedTuple):
    """Begin a new game."""


class Hurry(NamedTuple):
    """Answer now, with what is found so far; questions up to this number only."""

    number: int


class Close(NamedTuple):
    """End."""


class Tells(NamedTuple):
    """Findings of a search on its way."""

    number: int
    thought: Thought


class Answer(NamedTuple):
    """The action that an agent chose."""

    number: int
    action: int
    thought: Thought | None
    """Findings of its search; None for an agent without one."""


class Failed(NamedTuple):
    """The agent failed, or gives up."""

    number: int
    message: str
    forfeits: bool
    """True if it gives the game up."""


class _HurriedError(Exception):
    """Ends a search on its way."""


class Worker:
    """Makes an agent and lets it answer.

    Args:
        receive: gives the next message.
        send: sends one.
    """

    def __init__(self, receive: Callable[[], Any], send: Callable[[Any], None]) -> None:
        self._receive, self._send = receive, send
        self.hurried: int = -1
        """The last question that is to be answered at once."""

    def run(self) -> None:
        """Answer until the end."""
        setup = self._receive()
        agent, number = None, -1
        while not isinstance(message := self._receive(), Close):
            try:
                number = getattr(message, "number", number)
                if agent is None:
                    agent = make_agent(setup.agent, setup.game, setup.seat, seed=setup.seed)
                    agent.restart()
                if isinstance(message, Prepare):
                    _prepare(agent, message.state)
                    self._send(Ready(message.number))
                elif isinstance(message, Ask):
                    self._send(self._answer(agent, setup.seat, message))
                elif isinstance(message, Restart):
                    agent.restart()
                elif isinstance(message, Inform):
                    _inform(agent, message)
            except ForfeitError as error:
                self._send(Failed(number, str(error), forfeits=True))
            except Exception as error:
                if is_raised_by_handler(error):
                    raise
                self._send(Failed(number, f"{type(error).__name__}: {error}", forfeits=False))
        AgentAbilities(agent).close()

    def _answer(self, agent: Any, seat: int, ask: Ask) -> Answer:
        clock = AgentAbilities(agent).clock
        if clock is not None and ask.time_left is not None:
            clock.set_left(*ask.time_left)

        def tell(result: SearchResult) -> None:
            self._send(Tells(ask.number, Thought.of(result)))
            if self.hurried >= ask.number:
                raise _HurriedError

        searches = hasattr(agent, "progress")
        if searches:
            agent.progress = tell
        try:
            chosen = agent.step(ask.state.clone())
            result = AgentAbilities(agent).last_result
        except _HurriedError:
            result = agent.searcher.result()
            chosen = result.action
        finally:
            if searches:
                agent.progress = None
        legal = [int(each) for each in legal_actions_of(ask.state, seat)]
        action = checked_action(chosen, legal, AgentAbilities(agent).advice)
        thought = Thought.of(result) if isinstance(result, SearchResult) else None
        return Answer(ask.number, action, thought)


def _prepare(agent: Any, state: Any) -> None:
    searcher = AgentAbilities(agent).searcher
    if searcher is not None and not state.is_terminal() and not state.is_chance_node():
        searcher.prepare(state)


def _inform(agent: Any, told: Inform) -> None:
    if not told.joint:
        agent.inform_action(told.state, told.player, told.actions[0])
    elif AgentAbilities(agent).inform_actions is not None:
        agent.inform_actions(told.state, list(told.actions))
