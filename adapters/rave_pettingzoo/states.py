"""PettingZoo's environments behind the common interface."""

import importlib.util
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import pettingzoo

from rave_agents.environments.chance import Chance, checked_chance, stream_entropy
from rave_agents.environments.environment_simulator import WorldSimulator
from rave_agents.environments.generators import Dice
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import NO_ACTION, GameState
from rave_agents.simulate.python_simulator import Evaluator
from rave_agents.simulate.simulator import Frame, Simulator
from rave_pettingzoo.classic_knowledge import Kind, kind_of
from rave_pettingzoo.cloning import (
    chance_knowledge,
    check_env,
    raw_env,
    search_cloner,
    searched_env,
)
from rave_pettingzoo.environment_state import TERMINAL, EnvironmentState, Secrets, secrets_of
from rave_pettingzoo.support import (
    check_begun,
    check_searchable,
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
    secrets: Secrets
    """What agents cannot know."""


class AECState(EnvironmentState):
    """A turn-based AEC environment as a GameState: a position that goes its own way from here.

    The environment is copied (``clone_env``), and the copy is stepped alone; its wrappers that only
    watch over the caller are left out. Players are the ``possible_agents`` by their index. Rewards
    are summed up for each agent, from this position on. Agents that are out are passed over; the
    game is over when all are terminated or truncated.

    Chance in the environment's steps is looked for once (``chance`` tells what was found). Where
    there is some, each simulation draws outcomes of its own, and different outcomes of an action
    are different positions in the tree: they are told apart by what the agents observe, the rewards
    and the last action. Only where no two outcomes are alike, as with noise, a position is a
    sequence of actions.

    Args:
        env: the environment, after ``reset``; it is not changed.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: where something is hidden, gives environments that the agent to move cannot tell
            from this one; see ``rave_pettingzoo.worlds.WorldFunction``.
        chance: ``"draw"``: simulations draw the outcomes of chance; ``"see"``: they copy the
            environment's generators, and so know what will come, which is cheating.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if the environment has not been reset, and for another ``chance``.
        CloneError: if it cannot be cloned.
        UnsupportedGameError: if the search cannot play it; it says why.
    """

    __slots__ = ("_last", "_player", "_returns", "_rules", "env")

    def __init__(
        self,
        env: Any,
        *,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
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
        checked_chance(chance)
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
            secrets=secrets_of(env, worlds, chance, lambda: chance_knowledge(env)),
        )
        self._returns = [0.0] * len(agents)
        self._last = NO_ACTION
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
        new._last = self._last
        return new

    @property
    def _secrets(self) -> Secrets:
        return self._rules.secrets

    def hides_information(self) -> bool:
        """Whether something is hidden from agents: it is known to be, or there are ``worlds``."""
        return self._secrets.hides

    @property
    def what_is_hidden(self) -> str | None:
        """What is hidden from agents, as far as it is known."""
        return self._secrets.what_is_hidden

    def draws_chance(self) -> bool:
        """Whether actions have random outcomes that the environment draws itself."""
        return self._secrets.draws

    def seeing(self) -> Self:
        """The same for a search that looks at what is hidden."""
        new = self.clone()
        new._rules = self._rules._replace(secrets=self._secrets.opened())
        return new

    def _begun(self, entropy: Sequence[int]) -> tuple[Self, Dice]:
        """The root of a search, whose clones draw from the dice, and these."""
        copy, dice, clone = self._secrets.begin(self.env, self._rules.clone(self.env), entropy)
        root = self._with(copy)
        root._rules = self._rules._replace(clone=clone)
        return root, dice

    def worlds(self, player: int, unit: Unit) -> Callable[[], Self]:
        """A source of states that the player to move cannot tell from this one.

        Raises:
            UnsupportedGameError: if there is none.
        """
        root, _ = self._begun([int(unit() * 2**32) for _ in range(4)])
        return root.begun_worlds(unit)

    def begun_worlds(self, unit: Unit) -> Callable[[], Self]:
        """Worlds that draw from the generators of this state's environment."""
        function = self._secrets.worlds
        if function is None and self.hides_information():
            raise UnsupportedGameError(no_worlds(self.env, self._secrets.what_is_hidden))
        if function is None:
            return self.clone
        source = FunctionWorlds(self.env, unit, function, self._rules.clone)
        return lambda: self._with(source())

    def view(self, player: int) -> Hashable:
        """What the agent of a seat sees: its observation, and its mask where it is to move.

        Where chance alone is not known in advance it sees all: what all agents observe, their
        returns and the last action; or the last action alone, where outcomes never come twice.
        """
        if self.hides_information() or not self.draws_chance():
            return view(self.env, self._rules.agents[player])
        if not self.chance.alike:
            return self._last
        seen = tuple(view(self.env, agent) for agent in self.env.agents)
        return self._last, tuple(self._returns), seen

    def legal_actions(self) -> Sequence[int]:
        """The actions that the mask allows; all of the action space without a mask."""
        return [] if self._player == TERMINAL else self._rules.legal(self.env)

    def apply_action(self, action: int) -> None:
        """Step the environment; whatever it raises is raised unchanged."""
        env = self.env
        self._last = action
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

    def board_tiling(self) -> str | None:
        """What the cells of the board look like; None for squares or where nobody knows."""
        name = str((getattr(self.env.unwrapped, "metadata", None) or {}).get("name", ""))
        return "points" if name.startswith("go_") else None

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
        return self._environment_simulator(frame, evaluator, None)

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Simulations that each take place in a world of their own, or with outcomes of their own.

        Raises:
            UnsupportedGameError: if there are none.
        """
        return self._environment_simulator(frame, evaluator, player)

    def _environment_simulator(
        self, frame: Frame, evaluator: Evaluator | None, observer: int | None
    ) -> Simulator:
        root, dice = self._begun(stream_entropy(frame.playout_stream))
        return WorldSimulator(
            root,
            frame,
            dice=dice,
            met=self._secrets.met() if observer is None else None,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
            observer=observer,
        )

    def __str__(self) -> str:
        kind = self._rules.kind
        board = "" if kind is None or kind.text is None else f"{kind.text(self.env)}\n"
        if self._player == TERMINAL:
            return f"{board}{self.env}: over"
        return f"{board}{self.env}: {self._rules.agents[self._player]} to move"


def game_state(
    env: Any,
    *,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    chance: Chance | str = Chance.DRAW,
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
    return AECState(env, translate=translate, worlds=worlds, chance=chance)


def _openspiel_state(env: Any) -> Any:
    from rave_openspiel import OpenSpielState  # noqa: PLC0415

    return OpenSpielState(env.game_state)
