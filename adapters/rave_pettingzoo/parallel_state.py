"""Parallel environments as a GameState."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self

import pettingzoo

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import Chance, checked_chance, stream_entropy
from rave_agents.environments.copying import hashable
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_simulator import OpenLoopSimulator, WorldSimulator
from rave_agents.environments.failures import Line, step_failed
from rave_agents.environments.masks import shown_mask
from rave_agents.environments.plan import AUTO, Account, ValueFunction
from rave_agents.environments.worlds import WorldFunction, check_world_function
from rave_agents.errors import RaveAgentsError, UnsupportedGameError
from rave_agents.game.game_state import PlayerId
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.simulator import Frame, Simulator
from rave_pettingzoo.cloning import chance_knowledge, check_env, search_cloner, searched_env
from rave_pettingzoo.environment_state import (
    TERMINAL,
    EnvironmentState,
    Seats,
    Secrets,
    plan_for,
    secrets_of,
)
from rave_pettingzoo.masks import allowed_actions, asked_function
from rave_pettingzoo.support import check_begun, check_searchable, env_name, no_worlds
from rave_pettingzoo.verification import masks_of
from rave_pettingzoo.worlds import ParallelWorlds


class ParallelState(EnvironmentState):
    """A Parallel environment as a GameState: its agents move at the same time.

    An environment whose agents take turns (the masks of all but one allow one action or none) can
    be searched as a turn-based game: the other agents then take their only action.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes. In a turn-based game different outcomes get different nodes, as in
    ``AECState``. With simultaneous moves, or with ``worlds``, a node stands for a sequence of joint
    actions, whatever their outcomes (open loop); agents that are out have the action 0, which does
    nothing.

    Args:
        env: the environment, after ``reset``; it is not changed.
        observations: the observations that its last ``reset`` or ``step`` returned, for the masks.
        infos: the infos that its last ``reset`` or ``step`` returned, for the masks.
        simultaneous: whether agents move at the same time; by default, whether several have a
            choice now. A turn-based game must remain turn-based to its end.
        worlds: in an environment with hidden information, the source of environments that
            ``player`` cannot tell from this one; see ``rave_pettingzoo.worlds.WorldFunction``. A
            Parallel environment does not return observations on request, so that only a world's
            agents are checked.
        player: the agent whose knowledge the worlds agree with; needed with ``worlds``.
        chance: as for ``AECState``.
        horizon: steps of the environment, in each of which all agents act, that a simulation looks
            ahead; else as for ``AECState``.
        discount: what a reward counts less with every such step, above 0 and at most 1.
        value: as for ``AECState``.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """

    def __init__(
        self,
        env: Any,
        *,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        simultaneous: bool | None = None,
        worlds: WorldFunction | None = None,
        player: Any = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        value: ValueFunction | None = None,
    ) -> None:
        check_env(env)
        plan = plan_for(env, horizon, discount, value)
        if not isinstance(env, pettingzoo.ParallelEnv):
            raise TypeError(f"env must be a Parallel environment, got {type(env).__name__}.")
        if simultaneous is not None and not isinstance(simultaneous, bool):
            raise TypeError(f"simultaneous must be True, False or None, got {simultaneous!r}.")
        check_world_function(worlds)
        checked_chance(chance)
        check_searchable(env, simultaneous=True)
        check_begun(env)
        self._agents = tuple(env.possible_agents)
        if worlds is not None and player not in self._agents:
            raise ValueError(
                f"player must be the agent that the worlds are for, one of {list(self._agents)}, "
                f"got {player!r}."
            )
        keep = worlds is not None or value is not None
        masks = masks_of(env, observations, infos)
        self.env: Any = searched_env(env, keep_observations=keep, masks=masks)
        """The copy of the environment."""
        self._asked = asked_function(self.env)
        self._secret = secrets_of(env, worlds, chance, lambda: chance_knowledge(env, masks))
        self._observer = player
        self._seen: Any = observations
        self._last: tuple[int, ...] = ()
        self._line: Line = ()
        self._seats = Seats(env_name(env), self._agents)
        self._sizes = {agent: int(env.action_space(agent).n) for agent in self._agents}
        self._clone = search_cloner(self.env)
        self._account = Account(plan, len(self._agents))
        self._simultaneous = False
        self._look(observations, infos)
        if simultaneous is None:
            simultaneous = self._player == PlayerId.SIMULTANEOUS
        self._simultaneous = simultaneous
        self._set_player()
        self._check_turns("")

    def _look(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        self._seen = observations
        self._legal = {
            agent: self._allowed(agent, observations, infos) for agent in self.env.agents
        }
        self._set_player()

    def _allowed(
        self, agent: Any, observations: Mapping[Any, Any], infos: Mapping[Any, Any]
    ) -> Sequence[int]:
        size = self._sizes[agent]
        mask = shown_mask(observations.get(agent), infos.get(agent), size)
        if mask is None and self._asked is not None:
            mask = self._asked(self.env, agent)
        return allowed_actions(mask, size, agent)

    def _set_player(self) -> None:
        choosing = [agent for agent, legal in self._legal.items() if len(legal) > 1]
        forced = [agent for agent, legal in self._legal.items() if len(legal) == 1]
        if not choosing and not forced:
            self._player = TERMINAL
        elif len(choosing) > 1 or self._simultaneous:
            self._player = int(PlayerId.SIMULTANEOUS)
        else:
            self._player = self._agents.index((choosing or forced)[0])

    def _check_turns(self, after: str) -> None:
        if self._player == PlayerId.SIMULTANEOUS and not self._simultaneous:
            raise UnsupportedGameError(
                f"{self.env}: several agents have a choice at the same time{after}, but it began "
                "as a turn-based game: pass simultaneous=True to ParallelState."
            )

    def has_simultaneous_moves(self) -> bool:
        """Whether agents move at the same time."""
        return self._simultaneous

    def seat(self, agent: Any) -> int:
        """Return the seat of an agent."""
        return self._agents.index(agent)

    @property
    def _secrets(self) -> Secrets:
        return self._secret

    @property
    def _open_loop(self) -> bool:
        """Whether nodes stand for joint actions whatever their outcomes (open loop)."""
        secrets = self._secret
        return self._simultaneous and (secrets.draws or secrets.worlds is not None)

    def hides_information(self) -> bool:
        """Whether something is hidden from agents for which the search has no worlds of its own."""
        return self._secret.hides and not (self._simultaneous and self._secret.worlds is not None)

    def draws_chance(self) -> bool:
        """Whether the environment draws random outcomes of actions in a turn-based game."""
        return self._secret.draws and not self._simultaneous

    def seeing(self) -> Self:
        """Return this state for a search that sees hidden information, which is cheating."""
        new = self.clone()
        new._secret = self._secret.opened()
        return new

    def check_worlds(self, config: SearchConfig) -> None:
        """Raise UnsupportedGameError if a search of this configuration has no worlds here."""
        if self.hides_information() and config.hidden == "determinize":
            raise UnsupportedGameError(no_worlds(self.env, self._secret.what_is_hidden))

    def worlds(self, player: int, unit: Callable[[], float]) -> Callable[[], Self]:
        """Return a source of determinizations: states that the player cannot tell from this one.

        Raises:
            UnsupportedGameError: if there is none.
        """
        root, _ = self._begun([int(unit() * 2**32) for _ in range(4)])
        return root.begun_worlds(unit)

    def begun_worlds(self, unit: Callable[[], float]) -> Callable[[], Self]:
        """Return a source of worlds that draw from the generators of this state's environment."""
        function = self._secret.worlds
        if function is None and self.hides_information():
            raise UnsupportedGameError(no_worlds(self.env, self._secret.what_is_hidden))
        if function is None:
            return self.clone
        source = ParallelWorlds(self.env, self._observer, unit, function, self._clone)
        return lambda: self._with(source())

    def view(self, player: int) -> Hashable:
        """Return an agent's observation, or everything if the environment hides nothing."""
        if self.hides_information() or not self._secret.draws:
            return hashable(self._seen.get(self._agents[player]))
        if not self.chance.alike:
            return self._last
        return self._last, tuple(self._account.returns), hashable(self._seen)

    def clone(self) -> Self:
        """Return a copy that shares no mutable object with this state."""
        return self._with(self._clone(self.env))

    def _with(self, env: Any) -> Self:
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        new.env = env
        new._account = self._account.copy()
        return new

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """Return the actions that the mask allows the agent to move, or a given agent."""
        player = self._player if player is None else player
        if player < 0:
            return []
        legal: Sequence[int] = self._legal.get(self._agents[player], [])
        if self._open_loop and not legal and self._player != TERMINAL:
            return [0]
        return legal

    def all_actions(self, player: int) -> Sequence[int]:
        """Return all actions of an agent, whatever its mask allows."""
        return range(self._sizes[self._agents[player]])

    def apply_action(self, action: int) -> None:
        """Step the environment with this action and the only action of each other agent."""
        mover = self._agents[self._player]
        actions = {agent: legal[0] for agent, legal in self._legal.items() if len(legal) == 1}
        self._last = (action,)
        self._step({**actions, mover: action})
        self._check_turns(f" after {action}")

    def apply_actions(self, actions: Sequence[int]) -> None:
        """Step the environment with an action of every agent, in the order of the seats."""
        self._last = tuple(actions)
        self._step(
            {
                agent: actions[seat]
                for seat, agent in enumerate(self._agents)
                if self._legal.get(agent)
            }
        )

    def _step(self, actions: Mapping[Any, int]) -> None:
        self._line = (self._line, actions)
        try:
            observations, rewards, ended, cut, infos = self.env.step(dict(actions))
            for agent, reward in rewards.items():
                self._account.add(self._seats[agent], reward)
            over = all(ended.get(agent) or cut.get(agent) for agent in self.env.agents)
            if not over:
                self._look(observations, infos or {})
        except RaveAgentsError:
            raise
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            raise step_failed(env_name(self.env), error, self._line) from error
        cut_off = self._account.end_step()
        if not over:
            if not cut_off:
                return
            self._account.cut_off(self)
        self._legal = {}
        self._player = TERMINAL

    def observation(self, player: int) -> Any:
        """Return an agent's last observation, without the mask."""
        seen = self._seen.get(self._agents[player])
        return seen["observation"] if isinstance(seen, Mapping) and "observation" in seen else seen

    def collected(self) -> tuple[Sequence[float], float]:
        """Return each agent's rewards since the first state, and what those to come count."""
        return self.returns(), self._account.weight

    def returns(self) -> Sequence[float]:
        """Return each seat's sum of rewards since the first state."""
        return self._account.returns.copy()

    def num_players(self) -> int:
        """Return the largest number of agents that the environment can have."""
        return len(self._agents)

    def num_distinct_actions(self) -> int:
        """The largest action space's size."""
        return max(self._sizes.values())

    def min_utility(self) -> float:
        """Not known."""
        return -math.inf

    def max_utility(self) -> float:
        """Not known."""
        return math.inf

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return the provider of simulations that each draw their own outcomes."""
        return self._environment_simulator(frame, evaluator, None)

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Return the provider of turn-based simulations that each begin in another world.

        Raises:
            UnsupportedGameError: if there are no worlds.
        """
        return self._environment_simulator(frame, evaluator, player)

    def _begun(self, entropy: Sequence[int]) -> tuple[Self, Dice]:
        """Return the root of a search, whose clones draw from the search's dice, and the dice."""
        copy, dice, clone = self._secret.begin(self.env, self._clone(self.env), entropy)
        root = self._with(copy)
        root._clone = clone
        return root, dice

    def _environment_simulator(
        self, frame: Frame, evaluator: Evaluator | None, observer: int | None
    ) -> Simulator:
        root, dice = self._begun(stream_entropy(frame.playout_stream))
        options: dict[str, Any] = {
            "dice": dice,
            "num_distinct_actions": self.num_distinct_actions(),
            "evaluator": evaluator,
        }
        if self._open_loop:
            return OpenLoopSimulator(root, frame, met=None, **options)
        met = self._secret.met() if observer is None else None
        return WorldSimulator(root, frame, met=met, observer=observer, **options)

    def __str__(self) -> str:
        return str(self.env)
