"""PettingZoo's environments behind the common interface."""

import importlib.util
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import pettingzoo

from rave_agents.errors import UnsupportedGameError
from rave_agents.game import GameState
from rave_agents.simulate.python_simulator import Evaluator, PythonSimulator
from rave_agents.simulate.simulator import Frame, Simulator
from rave_pettingzoo.cloning import check_env, raw_env, search_cloner, searched_env
from rave_pettingzoo.environment_state import TERMINAL, EnvironmentState
from rave_pettingzoo.kinds import Kind, kind_of
from rave_pettingzoo.support import (
    check_begun,
    check_searchable,
    hidden_information,
    is_openspiels,
    is_parallel,
    is_shimmy,
    legal_function,
    no_worlds,
    turn_based_env,
)
from rave_pettingzoo.worlds import (
    FunctionWorlds,
    Unit,
    WorldFunction,
    check_world_function,
    view,
)


class _Rules(NamedTuple):
    """What all states of one environment have in common."""

    agents: tuple[Any, ...]
    """The agents by seat."""
    seats: Mapping[Any, int]
    """The seats by agent."""
    num_actions: int
    """One more than the largest action of any agent."""
    clone: Callable[[Any], Any]
    """Copies the environment."""
    legal: Callable[[Any], Sequence[int]]
    """The legal actions of the agent that is selected."""
    kind: Kind | None
    """What is known of the environment."""
    translate: bool
    """Whether searches may play in OpenSpiel's states."""
    hides: bool
    """Whether something is hidden from agents."""
    worlds: WorldFunction | None
    """The source of worlds of the user's own, if any."""


class AECState(EnvironmentState):
    """A turn-based AEC environment as a GameState: a position that goes its own way from here.

    The environment is copied (``clone_env``), and the copy is stepped alone; its wrappers that only
    watch over the caller are left out. Players are the ``possible_agents`` by their index. Rewards
    are summed up for each agent, from this position on. Agents that are out are passed over; the
    game is over when all are terminated or truncated.

    Args:
        env: the environment, after ``reset``; it is not changed.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: where something is hidden, gives environments that the agent to move cannot tell
            from this one; see ``rave_pettingzoo.worlds.WorldFunction``.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if the environment has not been reset.
        CloneError: if it cannot be cloned.
        UnsupportedGameError: if the search cannot play it; it says why.
    """

    __slots__ = ("_player", "_returns", "_rules", "env")

    def __init__(
        self, env: Any, *, translate: bool = True, worlds: WorldFunction | None = None
    ) -> None:
        if isinstance(env, pettingzoo.ParallelEnv) and turn_based_env(env) is not None:
            env = turn_based_env(env)
        check_env(env)
        if not isinstance(env, pettingzoo.AECEnv):
            raise TypeError(
                f"env must be an AEC environment, got {type(env).__name__}; ParallelState takes "
                "Parallel ones."
            )
        if not isinstance(translate, bool):
            raise TypeError(f"translate must be True or False, got {translate!r}.")
        check_world_function(worlds)
        check_searchable(env)
        check_begun(env)
        self.env: Any = searched_env(env)
        """The copy of the environment."""
        kind = kind_of(self.env)
        agents = tuple(self.env.possible_agents)
        self._rules = _Rules(
            agents=agents,
            seats={agent: seat for seat, agent in enumerate(agents)},
            num_actions=max(int(env.action_space(agent).n) for agent in agents),
            clone=search_cloner(self.env),
            legal=legal_function(self.env),
            kind=kind,
            translate=translate and importlib.util.find_spec("pyspiel") is not None,
            hides=worlds is not None or hidden_information(self.env) is not None,
            worlds=worlds,
        )
        self._returns = [0.0] * len(agents)
        self._player = TERMINAL
        self._settle()
        if self._rules.translate and self._player != TERMINAL:
            from rave_pettingzoo import translation  # noqa: PLC0415

            translation.prepare(self.env)

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        return self._with(self._rules.clone(self.env))

    def _with(self, env: Any) -> Self:
        """The same with an environment of its own, in which the same agent is to move."""
        new = object.__new__(type(self))
        new.env = env
        new._rules = self._rules
        new._returns = self._returns.copy()
        new._player = self._player
        return new

    def hides_information(self) -> bool:
        """Whether something is hidden from agents: it is known to be, or there are ``worlds``."""
        return self._rules.hides

    def worlds(self, player: int, unit: Unit) -> Callable[[], Self]:
        """A source of states that the player to move cannot tell from this one.

        Raises:
            UnsupportedGameError: if there is none.
        """
        function = self._rules.worlds
        if function is None:
            raise UnsupportedGameError(no_worlds(self.env))
        source = FunctionWorlds(self.env, unit, function)
        return lambda: self._with(source())

    def view(self, player: int) -> Hashable:
        """What the agent of a seat sees: its observation, and its mask where it is to move."""
        return view(self.env, self._rules.agents[player])

    def legal_actions(self) -> Sequence[int]:
        """The actions that the mask allows; all of the action space without a mask."""
        return [] if self._player == TERMINAL else self._rules.legal(self.env)

    def apply_action(self, action: int) -> None:
        """Step the environment; whatever it raises is raised unchanged."""
        env = self.env
        env.step(action)
        returns, seats = self._returns, self._rules.seats
        for agent, reward in env.rewards.items():
            returns[seats[agent]] += reward
        self._settle()

    def _settle(self) -> None:
        """Find who moves; agents that are out step with None, which takes them off the list."""
        env = self.env
        while env.agents:
            agent = env.agent_selection
            ended, cut = env.terminations, env.truncations
            if not (ended[agent] or cut[agent]):
                self._player = self._rules.seats[agent]
                return
            if all(ended[other] or cut[other] for other in env.agents):
                break
            env.step(None)
        self._player = TERMINAL

    def returns(self) -> Sequence[float]:
        """The rewards of each seat, summed up from the position that the first state was made of.

        Of a Shimmy environment OpenSpiel's own returns.
        """
        kind = self._rules.kind
        if kind is not None and kind.returns is not None:
            return kind.returns(self.env)
        return [float(value) for value in self._returns]

    def num_players(self) -> int:
        """How many agents the environment may have."""
        return len(self._rules.agents)

    def num_distinct_actions(self) -> int:
        """The largest action space's size."""
        return self._rules.num_actions

    def min_utility(self) -> float:
        """The least return where it is known; else ``-inf``: the search scales what it sees."""
        return self._bounds()[0]

    def max_utility(self) -> float:
        """The greatest return, likewise."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        kind = self._rules.kind
        if is_shimmy(self.env):
            wrapped = _openspiel_state(self.env)
            return wrapped.min_utility(), wrapped.max_utility()
        return (-math.inf, math.inf) if kind is None or kind.bounds is None else kind.bounds

    def utility_sum(self) -> float | None:
        """What the returns of all players sum up to at every end; None where it is not known."""
        if is_shimmy(self.env):
            total: float | None = _openspiel_state(self.env).utility_sum()
            return total
        kind = self._rules.kind
        return 0.0 if kind is not None and kind.zero_sum else None

    def observation(self, player: int) -> Any:
        """What the agent of a seat sees: the environment's observation without its mask."""
        observation = self.env.observe(self._rules.agents[player])
        if isinstance(observation, Mapping) and "observation" in observation:
            return observation["observation"]
        return observation

    def position_key(self) -> Hashable:
        """Equal for equal positions of the classic environments; None for others."""
        kind = self._rules.kind
        if kind is None or kind.key is None:
            return None
        return (type(self.env).__module__, self._player, kind.key(self.env))

    def moves_to(self, later: "AECState") -> Sequence[int] | None:
        """The actions that lead from here to a later position; None if that is not known."""
        kind = self._rules.kind
        if kind is None or type(later.env) is not type(self.env):
            return None
        if kind.moves is not None:
            return kind.moves(self.env, later.env)
        return None

    def action_to_string(self, player: int, action: int) -> str:
        """How people write an action of the player to move; else its number."""
        kind = self._rules.kind
        if kind is None or kind.action_name is None or player != self._player:
            return str(action)
        return kind.action_name(self.env, action)

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """OpenSpiel's simulations where the position is the same there, else those of clones."""
        if evaluator is None and self._rules.translate and self._player != TERMINAL:
            from rave_pettingzoo import translation  # noqa: PLC0415

            found = translation.translated(self.env)
            if found is not None:
                if translation.matches(found, self._player, self.legal_actions()):
                    return found.provider(frame)
                translation.warn_of_mismatch(str(self.env))
        return PythonSimulator(
            self.clone(),
            frame,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
        )

    def __str__(self) -> str:
        kind = self._rules.kind
        board = "" if kind is None or kind.text is None else f"{kind.text(self.env)}\n"
        if self._player == TERMINAL:
            return f"{board}{self.env}: over"
        return f"{board}{self.env}: {self._rules.agents[self._player]} to move"


def game_state(
    env: Any, *, translate: bool = True, worlds: WorldFunction | None = None
) -> GameState:
    """The position of a live environment as what is best searched.

    OpenSpiel's own state for a Shimmy environment, unless ``translate`` is False or there are
    ``worlds``; else an ``AECState``.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """
    check_env(env)
    if translate and worlds is None and is_openspiels(env):
        from rave_openspiel import OpenSpielState  # noqa: PLC0415

        check_searchable(env)
        check_begun(env)
        state: GameState = OpenSpielState(raw_env(env).game_state.clone())
        return state
    if is_parallel(env):
        check_searchable(env, simultaneous=True)
        raise UnsupportedGameError(
            f"{env} cannot be searched by itself: in a Parallel environment agents may move at the "
            "same time. Give what its last reset or step returned: "
            "rave_pettingzoo.ParallelState(env, observations=..., infos=...); or make an agent for "
            "one of its players: RaveAgent(env, player=...)."
        )
    return AECState(env, translate=translate, worlds=worlds)


def _openspiel_state(env: Any) -> Any:
    from rave_openspiel import OpenSpielState  # noqa: PLC0415

    return OpenSpielState(env.game_state)
