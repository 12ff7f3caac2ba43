"""Environments of PettingZoo as a GameState: what all have in common, and AEC environments."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import pettingzoo

from rave_agents.agents.views import View
from rave_agents.environments.chance import Chance
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_state import TERMINAL, EnvironmentState
from rave_agents.environments.facts import metadata_of
from rave_agents.environments.plan import AUTO, Account, ValueFunction
from rave_agents.environments.worlds import Unit, WorldFunction
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import GameState
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.simulator import Frame, Header, Simulator
from rave_agents.simulate.value import PositionValue
from rave_pettingzoo.checks import (
    check_begun,
    check_searchable,
    is_openspiels,
    warn_of_assumption,
)
from rave_pettingzoo.dealt_game import DealtGame
from rave_pettingzoo.env_facts import EnvFacts, Options, env_facts
from rave_pettingzoo.structure import (
    check_env,
    is_parallel,
    is_shimmy,
    mask_of,
    openspiel,
    raw_env,
    turn_based_env,
)
from rave_pettingzoo.worlds import FunctionWorlds, view


class ZooState(EnvironmentState):
    """A position of an AEC or of a Parallel environment."""

    __slots__ = ()

    _shared: EnvFacts

    def _begun(self, entropy: Sequence[int]) -> tuple[Any, Dice]:
        facts = self._shared
        if not facts.is_open and facts.worlds is None and facts.what_is_hidden is None:
            warn_of_assumption(self.env)
        return super()._begun(entropy)

    def view(self, player: int) -> Hashable:
        """Return what the agent of a seat sees: its observation, and its mask if it is to move.

        If only chance is unknown, all agents' observations, their returns and the last action count
        too; if no outcome repeats, only the last action.
        """
        if self.hides_information() or not self._shared.draws:
            return self._seen_by(player)
        if not self.chance.alike:
            return self._last
        return self._last, tuple(self._account.returns), self._seen_by_all()

    def _seen_by(self, player: int) -> Hashable:
        raise NotImplementedError

    def _seen_by_all(self) -> Hashable:
        raise NotImplementedError


class AECState(ZooState):
    """A turn-based AEC environment as a GameState, in a copy of the environment.

    The state steps a copy (``clone_env``) without the wrappers that only check the caller. Players
    are indices of ``possible_agents``. Returns are sums of each agent's rewards from this position
    on. Agents that are out are skipped; the game is over when all are terminated or truncated.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes, and different outcomes of an action get different nodes,
    distinguished by the agents' observations, the rewards and the last action. If no outcome
    repeats, as with continuous noise, a node is a sequence of actions (open loop).

    Args:
        env: the environment, after ``reset``; it is not changed.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: in an environment with hidden information, the source of determinizations,
            environments that look like this one to the agent to move; see
            ``rave_pettingzoo.worlds.WorldFunction``. None for those registered for its class, see
            ``register_worlds``.
        chance: ``"draw"``: simulations draw the outcomes of chance; ``"see"``: they copy the
            environment's generators and foresee the outcomes, which is cheating.
        horizon: moves of all agents that a simulation looks ahead, at least 1; None for the end of
            the game; ``"auto"`` for the end where the game is known to end (in Hanabi 6), else
            1,000.
        discount: the factor on a reward for every move, above 0 and at most 1.
        evaluator: evaluates the position where the horizon cuts a simulation off, see
            ``rave_agents.environments.plan.ValueFunction``; None for nothing, in Hanabi for 2
            points for each life.
        keep_observations: whether wrappers that change only observations are kept, for an
            evaluator that reads them.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: if the environment has not been reset, or for an unknown ``chance``.
        CloneError: if the environment cannot be cloned.
        UnsupportedGameError: if the search cannot play it; the message says why.
    """

    __slots__ = ()

    def __init__(
        self,
        env: Any,
        *,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        evaluator: ValueFunction | None = None,
        keep_observations: bool = False,
    ) -> None:
        options = Options(
            translate, worlds, chance, horizon, discount, evaluator, keep_observations
        )
        options.checked_plan(env)
        check_env(env)
        env = turn_based_env(env) or env
        if not isinstance(env, pettingzoo.AECEnv):
            raise TypeError(
                f"env must be an AEC environment, got {type(env).__name__}; ParallelState takes "
                "Parallel ones."
            )
        self._begin(env, env_facts(env, options))

    @classmethod
    def at(cls, env: Any, facts: EnvFacts) -> Self:
        """Return the position of an environment whose facts are known."""
        check_begun(env)
        state = object.__new__(cls)
        state._begin(env, facts)
        return state

    def _begin(self, env: Any, facts: EnvFacts) -> None:
        super().__init__(facts.copy(env), facts)
        self._settle()
        if facts.translate and self._player != TERMINAL:
            _translation().prepare(self.env)  # Compiles, before the search's clock starts.

    def _world_source(self, unit: Unit, function: WorldFunction) -> Callable[[], Any]:
        return FunctionWorlds(self.env, unit, function, self._clone)

    def _seen_by(self, player: int) -> Hashable:
        return view(self.env, self._shared.agents[player])

    def _seen_by_all(self) -> Hashable:
        return tuple(view(self.env, agent) for agent in self.env.agents)

    @property
    def start(self) -> Callable[[], DealtGame]:
        """The function that returns the start of the game, where one can be dealt.

        Raises:
            AttributeError: if chance moves later, or views are not complete.
        """
        kind = self._shared.kind
        if kind is None or not kind.deals_at_reset or not self._plan.is_whole_game:
            raise AttributeError("start")
        return lambda: DealtGame(self._dealt, self)

    def _dealt(self, seed: int) -> "AECState":
        """The position after a reset of a copy with a seed."""
        env = self._shared.copy(self.env)
        env.reset(seed=seed)
        new = self._with(env)
        new._account, new._line = Account(self._shared.plan, self.num_players()), ()
        new._settle()
        return new

    def legal_actions(self) -> Sequence[int]:
        """Return the actions that the mask allows; without a mask, all actions.

        Raises:
            GameError: for an exception of the environment, or an invalid mask.
        """
        if self._player == TERMINAL:
            return []
        try:
            return self._shared.legal(self.env)
        except Exception as error:
            self._blame(error)
            raise

    def _step(self, action: int) -> None:
        env, account, seats = self.env, self._account, self._shared.seats
        env.step(action)
        # ``rewards`` are of this step; ``_cumulative_rewards`` are reset at each agent's turn.
        for agent, reward in env.rewards.items():
            account.add(seats[agent], reward)
        self._settle()

    def _settle(self) -> None:
        """Find the agent to move; step agents that are out with None, which removes them."""
        env = self.env
        while env.agents:
            agent = env.agent_selection
            ended, cut = env.terminations, env.truncations
            if not (ended[agent] or cut[agent]):
                self._player = self._shared.seats[agent]
                return
            # The end: leave the final position as it is.
            if all(ended[other] or cut[other] for other in env.agents):
                break
            env.step(None)  # PettingZoo's step of an agent that is out: it removes the agent.
        self._player = TERMINAL

    def returns(self) -> Sequence[float]:
        """Return each seat's sum of rewards since the first state.

        For a Shimmy environment these are OpenSpiel's returns.
        """
        kind = self._shared.kind
        # Shimmy's rewards count the last move twice for some agents.
        if kind is not None and kind.returns is not None and self._plan.is_whole_game:
            return kind.returns(self.env)
        return super().returns()

    def min_utility(self) -> float:
        """Return the least possible return; ``-inf`` if unknown: the search scales by itself."""
        return self._bounds()[0]

    def max_utility(self) -> float:
        """Return the greatest possible return; ``inf`` if unknown."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        kind = self._shared.kind
        # A value at the horizon may lie beyond what the game's rewards can reach.
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
        kind = self._shared.kind
        return 0.0 if kind is not None and kind.zero_sum else None

    def board_tiling(self) -> str | None:
        """Return the board's tiling; None for squares, or if unknown."""
        name = str(metadata_of(self.env.unwrapped).get("name", ""))
        return "points" if name.startswith("go_") else None

    def _observed(self, player: int) -> Any:
        return self.env.observe(self._shared.agents[player])

    @property
    def framework_state(self) -> Any:
        """OpenSpiel's state of this position, where that has the same actions; else this one.

        Agents of OpenSpiel's users play there.
        """
        translates = self._shared.translate and self._player != TERMINAL
        found = _translation().openspiel_state(self.env) if translates else None
        return self if found is None else found

    def policy_view(self, player: int) -> View:
        """Return the view of a policy in this seat, as in the environment's own loop."""
        env, agent = self.env, self._shared.agents[player]
        observation, info = env.observe(agent), env.infos.get(agent, {})
        size = int(env.action_space(agent).n)
        return View(env, observation, mask_of(env, agent, observation, info, size), agent)

    def game_key(self) -> Hashable:
        """Return the environment's class and name, or the game of OpenSpiel that it is."""
        shimmy = is_shimmy(self.env)
        return _openspiel_state(self.env).game_key() if shimmy else super().game_key()

    def position_key(self) -> Hashable:
        """Return a key that is equal for equal positions of classic environments; else None."""
        kind = self._shared.kind
        if kind is None or kind.key is None or not self._plan.is_whole_game:
            return None
        return (type(self.env).__module__, self._player, kind.key(self.env))

    def moves_to(self, later: "AECState") -> Sequence[int] | None:
        """Return the actions that lead from here to a later position; None if unknown."""
        kind = self._shared.kind
        plain = self._plan.is_whole_game and later._plan.is_whole_game
        if kind is None or type(later.env) is not type(self.env) or not plain:
            return None
        if kind.moves is not None:
            return kind.moves(self.env, later.env)
        return None

    def action_to_string(self, player: int, action: int | None = None) -> str:
        """Return the usual name of an action of the player to move; else its number.

        The action alone may be given, as to ``pyspiel.State``.
        """
        player, action = (self._player, player) if action is None else (player, action)
        kind = self._shared.kind
        if kind is None or kind.action_name is None or player != self._player:
            return str(action)
        return kind.action_name(self.env, action)

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return OpenSpiel's provider if the position is the same there, else one on clones."""
        playouts = evaluator is None and frame.header[Header.PLAYOUTS] > 0
        translatable = playouts or isinstance(evaluator, PositionValue)
        if translatable and self._shared.translate and self._player != TERMINAL:
            translated = _translation()
            found = translated.translated_safely(self.env)
            # Compare at the root of each search: a board may have been set by hand.
            if found is not None:
                if translated.matches(found, self._player, self.legal_actions()):
                    made: Simulator | None = found.provider(frame, evaluator)
                    if made is not None:
                        translated.follow_environment(made, self)
                        return made
                else:
                    translated.warn_of_mismatch(str(self.env))
        return super().simulator(frame, evaluator)

    def __str__(self) -> str:
        kind = self._shared.kind
        board = "" if kind is None or kind.text is None else f"{kind.text(self.env)}\n"
        if self._player == TERMINAL:
            return f"{board}{self.env}: over"
        return f"{board}{self.env}: {self._shared.agents[self._player]} to move"


def _translation() -> Any:
    from rave_pettingzoo import translation  # noqa: PLC0415  (optional: OpenSpiel)

    return translation


def _openspiel_state(env: Any) -> Any:
    return openspiel().OpenSpielState(env.game_state)


def game_state(
    env: Any,
    *,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    chance: Chance | str = Chance.DRAW,
    horizon: int | str | None = AUTO,
    discount: float = 1.0,
    evaluator: ValueFunction | None = None,
    keep_observations: bool = False,
) -> GameState:
    """Return the position of a live environment in the form that is fastest to search.

    OpenSpiel's own state for a Shimmy environment, unless ``translate`` is False, or there are
    ``worlds``, a horizon or a discount, or observations are kept; else an ``AECState``.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """
    check_env(env)
    if is_parallel(env) and is_openspiels(env):
        env = raw_env(env)  # OpenSpiel's state has the mover, or the joint move, itself.
    if is_parallel(env):
        check_searchable(env, simultaneous=True)
        raise UnsupportedGameError(
            f"{env} cannot be searched by itself: in a Parallel environment agents may move at the "
            "same time. Give what its last reset or step returned: "
            "rave_pettingzoo.ParallelState(env, observations=..., infos=...); or make an agent for "
            "one of its players: RaveAgent(env, player=...)."
        )
    options = Options(translate, worlds, chance, horizon, discount, evaluator, keep_observations)
    env = turn_based_env(env) or env
    return position(env, env_facts(env, options))


def position(env: Any, facts: EnvFacts) -> GameState:
    """Return the position of an AEC environment whose facts are known, as ``game_state`` does."""
    if facts.is_openspiels:
        check_begun(env)
        state: GameState = openspiel().OpenSpielState(facts.raw.game_state.clone())
        return state
    return AECState.at(env, facts)
