"""PettingZoo's environments behind the common interface."""

import importlib.util
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import pettingzoo

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import Chance, checked_chance, stream_entropy
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_simulator import WorldSimulator
from rave_agents.environments.failures import Line, step_failed
from rave_agents.environments.plan import AUTO, Account, Plan, ValueFunction
from rave_agents.environments.worlds import Unit, WorldFunction, check_world_function
from rave_agents.errors import RaveAgentsError, UnsupportedGameError
from rave_agents.game.game_state import NO_ACTION
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.simulator import Frame, Header, Simulator
from rave_agents.simulate.value import PositionValue
from rave_pettingzoo.classic_knowledge import Kind, kind_of
from rave_pettingzoo.cloning import (
    chance_knowledge,
    check_env,
    search_cloner,
    searched_env,
)
from rave_pettingzoo.environment_state import (
    TERMINAL,
    EnvironmentState,
    Seats,
    Secrets,
    plan_for,
    secrets_of,
)
from rave_pettingzoo.masks import legal_function
from rave_pettingzoo.support import (
    check_begun,
    check_searchable,
    env_name,
    is_shimmy,
    no_worlds,
    turn_based_env,
)
from rave_pettingzoo.worlds import FunctionWorlds, view


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
    """Whether searches may run in OpenSpiel's states."""
    secrets: Secrets
    """What agents cannot know."""


class AECState(EnvironmentState):
    """A turn-based AEC environment as a GameState, in a copy of the environment.

    The state steps a copy (``clone_env``) without the wrappers that only check the caller. Players
    are indices of ``possible_agents``. Returns are sums of each agent's rewards from this position
    on. Agents that are out are skipped; the game is over when all are terminated or truncated.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes, and different outcomes of an action get different nodes, told apart
    by the agents' observations, the rewards and the last action. Where no outcome repeats, as with
    continuous noise, a node stands for a sequence of actions (open loop).

    Args:
        env: the environment, after ``reset``; it is not changed.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: in an environment with hidden information, the source of determinizations,
            environments that the agent to move cannot tell from this one; see
            ``rave_pettingzoo.worlds.WorldFunction``.
        chance: ``"draw"``: simulations draw the outcomes of chance; ``"see"``: they copy the
            environment's generators and foresee the outcomes, which is cheating.
        horizon: moves of all agents that a simulation looks ahead, at least 1; None for the end of
            the game; ``"auto"`` for the end where the game is known to end, else 1,000.
        discount: what a reward counts less with every move, above 0 and at most 1.
        value: judges the position where the horizon cuts a simulation off, see
            ``rave_agents.environments.plan.ValueFunction``; None for nothing.
        keep_observations: whether wrappers that change observations alone are kept, as an evaluator
            that reads them needs it.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: if the environment has not been reset, or for an unknown ``chance``.
        CloneError: if the environment cannot be cloned.
        UnsupportedGameError: if the search cannot play it; the message says why.
    """

    __slots__ = ("_account", "_last", "_line", "_player", "_rules", "env")

    def __init__(
        self,
        env: Any,
        *,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        value: ValueFunction | None = None,
        keep_observations: bool = False,
    ) -> None:
        plan = plan_for(env, horizon, discount, value)
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
        keep = keep_observations or worlds is not None or value is not None
        self.env: Any = searched_env(env, keep_observations=keep)
        """The copy of the environment."""
        kind = kind_of(self.env)
        agents = tuple(self.env.possible_agents)
        self._rules = _Rules(
            agents=agents,
            seats=Seats(env_name(env), agents),
            num_actions=max(int(env.action_space(agent).n) for agent in agents),
            clone=search_cloner(self.env),
            legal=legal_function(self.env),
            kind=kind,
            translate=translate
            and plan.is_whole_game
            and importlib.util.find_spec("pyspiel") is not None,
            secrets=secrets_of(env, worlds, chance, lambda: chance_knowledge(env)),
        )
        self._account = Account(plan, len(agents))
        self._last = NO_ACTION
        self._line: Line = ()
        self._player = TERMINAL
        self._settle()
        if self._rules.translate and self._player != TERMINAL:
            from rave_pettingzoo import translation  # noqa: PLC0415

            translation.prepare(self.env)

    def clone(self) -> Self:
        """Return a copy that shares no mutable object with this state."""
        return self._with(self._rules.clone(self.env))

    def _with(self, env: Any) -> Self:
        """Return the state with another environment, in which the same agent is to move."""
        new = object.__new__(type(self))
        new.env = env
        new._rules = self._rules
        new._account = self._account.copy()
        new._player = self._player
        new._last, new._line = self._last, self._line
        return new

    @property
    def _secrets(self) -> Secrets:
        return self._rules.secrets

    def hides_information(self) -> bool:
        """Whether the environment hides information from agents: known to, or given ``worlds``."""
        return self._secrets.hides

    @property
    def what_is_hidden(self) -> str | None:
        """The information known to be hidden from agents."""
        return self._secrets.what_is_hidden

    def draws_chance(self) -> bool:
        """Whether the environment draws random outcomes of actions itself."""
        return self._secrets.draws

    def seeing(self) -> Self:
        """Return this state for a search that sees hidden information, which is cheating."""
        new = self.clone()
        new._rules = self._rules._replace(secrets=self._secrets.opened())
        return new

    def _begun(self, entropy: Sequence[int]) -> tuple[Self, Dice]:
        """Return the root of a search, whose clones draw from the search's dice, and the dice."""
        copy, dice, clone = self._secrets.begin(self.env, self._rules.clone(self.env), entropy)
        root = self._with(copy)
        root._rules = self._rules._replace(clone=clone)
        return root, dice

    def worlds(self, player: int, unit: Unit) -> Callable[[], Self]:
        """Return a source of determinizations: states that the player cannot tell from this one.

        Raises:
            UnsupportedGameError: if there is none.
        """
        root, _ = self._begun([int(unit() * 2**32) for _ in range(4)])
        return root.begun_worlds(unit)

    def begun_worlds(self, unit: Unit) -> Callable[[], Self]:
        """Return a source of worlds that draw from the generators of this state's environment."""
        function = self._secrets.worlds
        if function is None and self.hides_information():
            raise UnsupportedGameError(no_worlds(self.env, self._secrets.what_is_hidden))
        if function is None:
            return self.clone
        source = FunctionWorlds(self.env, unit, function, self._rules.clone)
        return lambda: self._with(source())

    def view(self, player: int) -> Hashable:
        """Return what the agent of a seat sees: its observation, and its mask if it is to move.

        If only chance is unknown, it sees everything: all agents' observations, their returns and
        the last action; or the last action alone, if no outcome repeats.
        """
        if self.hides_information() or not self.draws_chance():
            return view(self.env, self._rules.agents[player])
        if not self.chance.alike:
            return self._last
        seen = tuple(view(self.env, agent) for agent in self.env.agents)
        return self._last, tuple(self._account.returns), seen

    def legal_actions(self) -> Sequence[int]:
        """Return the actions that the mask allows; without a mask, all actions.

        Raises:
            GameError: for an exception of the environment, or a mask that is none.
        """
        if self._player == TERMINAL:
            return []
        try:
            return self._rules.legal(self.env)
        except RaveAgentsError:
            raise
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            raise step_failed(env_name(self.env), error, self._line) from error

    def apply_action(self, action: int) -> None:
        """Step the environment.

        Raises:
            GameError: for an exception of the environment, or an answer that is none.
        """
        env = self.env
        self._last = action
        self._line = (self._line, action)
        account, seats = self._account, self._rules.seats
        try:
            env.step(action)
            for agent, reward in env.rewards.items():
                account.add(seats[agent], reward)
            self._settle()
        except RaveAgentsError:
            raise
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            raise step_failed(env_name(env), error, self._line) from error
        cut = account.end_step()
        if cut and self._player != TERMINAL:
            account.cut_off(self)
            self._player = TERMINAL

    def _settle(self) -> None:
        """Find the agent to move; step agents that are out with None, which removes them."""
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
        """Return each seat's sum of rewards since the first state.

        For a Shimmy environment these are OpenSpiel's returns.
        """
        kind = self._rules.kind
        if kind is not None and kind.returns is not None and self._plan.is_whole_game:
            return kind.returns(self.env)
        return self._account.returns.copy()

    @property
    def _plan(self) -> Plan:
        return self._account.plan

    def num_players(self) -> int:
        """Return the largest number of agents that the environment can have."""
        return len(self._rules.agents)

    def num_distinct_actions(self) -> int:
        """Return the size of the largest action space."""
        return self._rules.num_actions

    def min_utility(self) -> float:
        """Return the least possible return; ``-inf`` if unknown: the search scales by itself."""
        return self._bounds()[0]

    def max_utility(self) -> float:
        """Return the greatest possible return; ``inf`` if unknown."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        kind = self._rules.kind
        if self._plan.value is not None and not self._plan.is_whole_game:
            return -math.inf, math.inf
        if is_shimmy(self.env) and self._plan.is_whole_game:
            wrapped = _openspiel_state(self.env)
            return wrapped.min_utility(), wrapped.max_utility()
        return (-math.inf, math.inf) if kind is None or kind.bounds is None else kind.bounds

    def utility_sum(self) -> float | None:
        """Return the sum of all players' returns at every end; None if unknown."""
        if not self._plan.is_whole_game:
            return None
        if is_shimmy(self.env):
            total: float | None = _openspiel_state(self.env).utility_sum()
            return total
        kind = self._rules.kind
        return 0.0 if kind is not None and kind.zero_sum else None

    def board_tiling(self) -> str | None:
        """Return the board's tiling; None for squares, or if unknown."""
        name = str((getattr(self.env.unwrapped, "metadata", None) or {}).get("name", ""))
        return "points" if name.startswith("go_") else None

    def observation(self, player: int) -> Any:
        """Return a seat's observation, without the mask."""
        observation = self.env.observe(self._rules.agents[player])
        if isinstance(observation, Mapping) and "observation" in observation:
            return observation["observation"]
        return observation

    def collected(self) -> tuple[Sequence[float], float]:
        """Return each seat's rewards since the first state, and what those to come count."""
        return self._account.returns.copy(), self._account.weight

    def game_key(self) -> Hashable:
        """Return the environment's class and name, or the game of OpenSpiel that it is."""
        shimmy = is_shimmy(self.env)
        return _openspiel_state(self.env).game_key() if shimmy else super().game_key()

    def position_key(self) -> Hashable:
        """Return a key that is equal for equal positions of classic environments; else None."""
        kind = self._rules.kind
        if kind is None or kind.key is None or not self._plan.is_whole_game:
            return None
        return (type(self.env).__module__, self._player, kind.key(self.env))

    def moves_to(self, later: "AECState") -> Sequence[int] | None:
        """Return the actions that lead from here to a later position; None if unknown."""
        kind = self._rules.kind
        plain = self._plan.is_whole_game and later._plan.is_whole_game
        if kind is None or type(later.env) is not type(self.env) or not plain:
            return None
        if kind.moves is not None:
            return kind.moves(self.env, later.env)
        return None

    def action_to_string(self, player: int, action: int) -> str:
        """Return the usual name of an action of the player to move; else its number."""
        kind = self._rules.kind
        if kind is None or kind.action_name is None or player != self._player:
            return str(action)
        return kind.action_name(self.env, action)

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return OpenSpiel's provider if the position is the same there, else one on clones."""
        playouts = evaluator is None and frame.header[Header.PLAYOUTS] > 0
        translatable = playouts or isinstance(evaluator, PositionValue)
        if translatable and self._rules.translate and self._player != TERMINAL:
            from rave_pettingzoo import translation  # noqa: PLC0415

            found = translation.translated_safely(self.env)
            if found is not None:
                if translation.matches(found, self._player, self.legal_actions()):
                    made = found.provider(frame, evaluator)
                    if made is not None:
                        return made
                else:
                    translation.warn_of_mismatch(str(self.env))
        return self._environment_simulator(frame, evaluator, None)

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Return the provider of simulations with worlds or outcomes of their own.

        Raises:
            UnsupportedGameError: if there are no worlds.
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


def _openspiel_state(env: Any) -> Any:
    from rave_openspiel import OpenSpielState  # noqa: PLC0415

    return OpenSpielState(env.game_state)
