"""Base class of agents for PettingZoo's environment loop, and the random agent."""

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces

from rave_agents.agents.environment_agent import EnvironmentAgent
from rave_agents.agents.views import AnyView
from rave_agents.environments.chance import Chance
from rave_agents.environments.check_time import checks_within
from rave_agents.environments.masks import KEY, LOOKED_FOR
from rave_agents.environments.plan import AUTO
from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Seed, checked
from rave_agents.searcher.evaluators import horizon_value
from rave_pettingzoo.checks import check_agents_known, check_begun, check_searchable
from rave_pettingzoo.cloning import Masks
from rave_pettingzoo.env_facts import EnvFacts, Options, env_facts
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.states import position
from rave_pettingzoo.structure import (
    allowed_actions,
    check_env,
    is_parallel,
    mask_of,
    masked_function,
    masks_of,
    raw_env,
    turn_based_env,
)


class LoopAgent(EnvironmentAgent):
    """Base of all agents for the loop; subclasses choose an action.

    Args:
        env: the live environment, which is never changed. Or a vectorised one of Supersuit's in
            this process: ``act`` and ``predict`` then return an array with an action for each row,
            which is an agent of one of the environments.
        player: the name of the agent to play for in a Parallel environment, where agents move at
            the same time; None in AEC environments. In the Parallel view of a turn-based
            environment it may be given: at others' turns the agent's action is 0.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        chance: as for ``SearchAgent``.
        horizon: as for ``SearchAgent``.
        discount: as for ``SearchAgent``.
        evaluator: evaluates the position where the horizon cuts a simulation off, see
            ``rave_agents.environments.plan.ValueFunction``; None for nothing.
        worlds: as for ``SearchAgent``; ``choose`` gets a state with them. Without worlds it gets
            the true state, hidden cards included, and must respect ``hides_information()`` itself.

    Raises:
        TypeError: if ``env`` is not a PettingZoo environment.
        ValueError: if ``player`` is unknown, missing, or given for an AEC environment.
        UnsupportedGameError: if the search cannot play it; it says why.
    """

    evaluator: Any
    """Evaluates positions, if given."""

    def __init__(
        self,
        env: Any,
        *,
        player: Any = None,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        evaluator: Any = None,
    ) -> None:
        live, self._rows = env, rows_of(env)
        if self._rows is not None:
            if player is not None:
                raise ValueError(
                    "player must be None for a vectorised environment, where each row is another "
                    f"agent's, got {player!r}."
                )
            env, player = self._rows[0]
        check_env(env)
        check_agents_known(env)
        _check_player(env, player)
        self.player: Any = player if self._rows is None else None
        """The agent to play for in a Parallel environment; None in an AEC environment."""
        options = Options(translate, worlds, chance, horizon, discount, horizon_value(evaluator))
        options.checked_plan(env)
        self.translate = translate
        """True if searches may play in OpenSpiel's states."""
        self.worlds = worlds
        """The user's source of worlds (determinizations), if any."""
        self.chance: Chance = checked("chance", Chance, chance)
        """The handling of chance: simulations draw its outcomes, or foresee them."""
        self.horizon = horizon
        """Steps that simulations look ahead; None for the end, ``"auto"`` for the default."""
        self.discount = discount
        """The discount of rewards per step."""
        # Past ``__setattr__``: a searching agent has its evaluator already, and it is fixed.
        vars(self)["evaluator"] = evaluator
        self._check_playable(env)
        self.env = live
        """The live environment."""

    def choose_at(self, view: AnyView) -> int:
        """Choose an action in the environment of a view, instead of the agent's own."""
        return self(view.env, player=view.player, observations=view.observations, infos=view.infos)

    def __call__(
        self,
        env: Any,
        *,
        player: Any = None,
        observations: Mapping[Any, Any] | None = None,
        infos: Mapping[Any, Any] | None = None,
    ) -> int:
        """Choose an action in this environment instead of the one that the agent is bound to.

        Args:
            env: an environment; it is not changed.
            player: the agent to play for in a Parallel environment; None for the agent's own
                player.
            observations: in a Parallel environment, the observations from the last ``reset`` or
                ``step``, for the masks.
            infos: in a Parallel environment, the infos from the last ``reset`` or ``step``, for the
                masks.

        Raises:
            ValueError: as ``act``.
            TypeError, UnsupportedGameError: as the constructor.
        """
        if env is not self.env:
            check_env(env)
            self._check_playable(env)
        if player is None and is_parallel(env):
            player = self.player
        _check_player(env, player)
        # Lend the seat for this call: facts and worlds depend on ``self.player``.
        bound, vars(self)["player"] = self.player, player
        try:
            if player is None or not is_parallel(env):
                action: int = self._act(env, None, None)
                return action
            return self._act_together(env, observations or {}, infos or {})
        finally:
            vars(self)["player"] = bound

    def choose(self, state: GameState) -> int:
        """Return the action to play at a position."""
        raise NotImplementedError

    def _check_playable(self, env: Any) -> None:
        check_searchable(env, simultaneous=is_parallel(env))

    _asked: float | None = None
    """The ``time.perf_counter()`` time at which the current action was requested."""

    _facts: EnvFacts | None = None
    """The facts of the environment of the last action."""

    @property
    def _seconds(self) -> float | None:
        """The seconds that a move may take; None without a limit."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        # Facts hold closures, and are collected again when needed.
        return {name: value for name, value in vars(self).items() if name != "_facts"}

    def _facts_of(self, env: Any, *, masks: Masks | None = None) -> EnvFacts:
        """The facts of an environment, collected again only if it or an option has changed."""
        together = masks is not None
        options = Options(
            self.translate,
            self.worlds,
            self.chance,
            self.horizon,
            self.discount,
            horizon_value(self.evaluator),
            keep_observations=not together and isinstance(self.evaluator, BatchEvaluator),
            player=self.player if together else None,
            simultaneous=together or None,
        )
        facts = self._facts
        if facts is None or not facts.fits(env, options):
            facts = env_facts(env, options, masks)
            vars(self)["_facts"] = facts
        return facts

    def _act(self, env: Any, observation: Any, mask: Any) -> Any:
        turns = turn_based_env(env) if isinstance(env, pettingzoo.ParallelEnv) else env
        if turns is None:
            return self._act_together(env, *self._shown(env, observation, mask))
        if turns is env:
            _check_selected(env)
        elif self._waits(turns):
            return 0  # The Parallel view ignores it.
        return self._act_in_turn(turns, observation, mask)

    def _act_in_turn(self, turns: Any, observation: Any, mask: Any) -> Any:
        """Choose an action in an AEC environment."""
        self._asked = time.perf_counter()
        with checks_within(self._seconds):
            state = position(turns, self._facts_of(turns))
        _check_mask(turns, observation, mask, state.legal_actions())
        return self.choose(state)

    def _act_together(
        self, env: Any, observations: Mapping[Any, Any], infos: Mapping[Any, Any]
    ) -> int:
        """Choose an action for ``player`` in a Parallel environment."""
        if self.player not in EnvAbilities(env).agents:  # Some have them from ``reset`` on.
            check_begun(env)
            if self._rows is not None and env.agents:
                return 0  # Its row goes on with the others.
            raise ValueError(f"{self.player!r} is out of the game.")
        self._asked = time.perf_counter()
        with checks_within(self._seconds):
            facts = self._facts_of(env, masks=lambda: masks_of(env, observations, infos))
            state = ParallelState.at(env, facts, observations, infos)
        return self.choose(state)

    def _waits(self, turns: Any) -> bool:
        """True if it is another agent's turn in the Parallel view of a turn-based environment."""
        if self.player is None:
            return False
        check_begun(turns)
        return bool(turns.agent_selection != self.player)

    def _observation_space(self) -> Any:
        if self.members:
            return self.members[0]._observation_space()
        selected = EnvAbilities(self.env).agent_selection
        agent = selected if self.player is None else self.player
        return None if agent is None else self.env.observation_space(agent)

    def _shown(
        self, env: Any, observation: Any, mask: Any
    ) -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
        """The observations and infos by agent, from the arguments of ``act``."""
        masks = mask if isinstance(mask, Mapping) else {self.player: mask}
        infos = {
            agent: given if isinstance(given, Mapping) else {KEY: given}
            for agent, given in masks.items()
            if given is not None
        }
        if isinstance(observation, Mapping) and set(observation) & set(env.possible_agents):
            return observation, infos
        return {self.player: observation}, infos


class RandomLoopAgent(LoopAgent):
    """Plays a legal action uniformly at random.

    It reads only the mask, and so plays any environment: with hidden information, simultaneous
    moves, or actions of any space, from which it draws as ``space.sample()`` does.
    """

    def __init__(self, env: Any, *, seed: int | None = None, **options: Any) -> None:
        super().__init__(env, **options)
        self._random = np.random.default_rng(checked("seed", Seed, seed))
        self._bind_members(self._rows or ())

    def _seed_member(self, number: int) -> None:
        self._random = self._random.spawn(number + 1)[number]

    def _become_independent(self) -> None:
        self._random = copy.deepcopy(self._random)

    def choose(self, state: GameState) -> int:
        """Return a random legal action."""
        return int(self._random.choice(state.legal_actions()))

    def _check_playable(self, env: Any) -> None:
        """Accept actions of any space."""

    def _act_in_turn(self, turns: Any, observation: Any, mask: Any) -> Any:
        check_begun(turns)
        if EnvAbilities(turns).agent_selection is None:
            raise UnsupportedGameError(
                f"{turns} has no agent_selection: a random agent plays in AEC environments."
            )
        space = turns.action_space(turns.agent_selection)
        if not isinstance(space, spaces.Discrete):
            return self._sample(space)
        legal = masked_function(turns)(turns)
        _check_mask(turns, observation, mask, legal)
        return int(space.start) + int(self._random.choice(legal))

    def _act_together(
        self, env: Any, observations: Mapping[Any, Any], infos: Mapping[Any, Any]
    ) -> Any:
        space = env.action_space(self.player)
        if not isinstance(space, spaces.Discrete):
            return self._sample(space)
        shown = observations.get(self.player), infos.get(self.player)
        size = int(space.n)
        legal = allowed_actions(mask_of(env, self.player, *shown, size), size, self.player)
        return int(space.start) + int(self._random.choice(legal))

    def _sample(self, space: Any) -> Any:
        """Draw from a copy of a space, whose generator is the environment's."""
        own = copy.deepcopy(space)
        own.seed(int(self._random.integers(2**31)))
        return own.sample()


class Row(NamedTuple):
    """One row of a vectorised environment of Supersuit's."""

    env: Any
    """The Parallel environment."""
    agent: Any
    """Its agent whose observations and actions the row has."""


def rows_of(env: Any) -> Sequence[Row] | None:
    """The rows of a vectorised environment of Supersuit's; None for any other environment.

    Raises:
        UnsupportedGameError: if its environments are in other processes, where the search cannot
            copy them, or are none of PettingZoo's.
    """
    if isinstance(env, gymnasium.Env | pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        return None
    if EnvAbilities(env).num_envs is None:
        return None
    # By ``vars``: vectorised wrappers forward unknown attributes to the environments inside.
    held = vars(env)
    inside = held.get("par_env")
    if isinstance(inside, pettingzoo.ParallelEnv):
        return [Row(inside, agent) for agent in inside.possible_agents]
    parts = held.get("vec_envs") or [part for part in (held.get("venv"),) if part is not None]
    rows = [rows_of(part) for part in parts]
    if not rows or None in rows:
        raise UnsupportedGameError(
            f"{type(env).__name__} keeps its environments out of reach, in other processes, or "
            "they are none of PettingZoo's, so the search cannot copy them. Use "
            "supersuit.pettingzoo_env_to_vec_env_v1, and concat_vec_envs_v1 with num_cpus=1; "
            "rave_gymnasium's agents are for vectorised environments of Gymnasium's."
        )
    return [row for found in rows if found is not None for row in found]


def _check_player(env: Any, player: Any) -> None:
    agents = list(raw_env(env).possible_agents)
    if isinstance(env, pettingzoo.ParallelEnv) and not is_parallel(env) and player in agents:
        return  # The Parallel view of a turn-based environment.
    if not is_parallel(env):
        if player is not None:
            raise ValueError(
                "player is for Parallel environments, where agents move at the same time: this one "
                f"shows whose turn it is. Leave it out, got {player!r}."
            )
    elif player not in agents:
        raise ValueError(
            "In a Parallel environment agents move at the same time: player must be the one to "
            f"play for, one of {agents}, got {player!r}."
        )


def _check_selected(env: Any) -> None:
    try:
        agent = env.agent_selection
        out = env.terminations[agent] or env.truncations[agent]
    except (AttributeError, KeyError, TypeError):
        return  # The state's constructor raises the error.
    if out:
        raise ValueError(f"{agent!r} is out of the game: call env.step(None) for it.")


def _check_mask(env: Any, observation: Any, mask: Any, actions: Sequence[int]) -> None:
    # The agent searches the environment, not the observation: a caller with several environments
    # may pass another one's observation, which only the mask reveals.
    if mask is None and isinstance(observation, Mapping):
        mask = observation.get("action_mask")
    if mask is None:
        return
    # An empty mask means the first action, as for ``Discrete.sample``.
    given = np.flatnonzero(np.ravel(np.asarray(mask))).tolist() or [0]
    legal = sorted(actions)
    if given == legal:
        return
    unmasked = len(legal) == SpaceAbilities(env.action_space(env.agent_selection)).n
    raise ValueError(
        f"The mask allows {given}, the environment {legal}: the observation is not that of the "
        "agent whose turn it is in the environment that this agent is bound to"
        + (f", or the environment shows no mask. {LOOKED_FOR}." if unmasked else ".")
    )
