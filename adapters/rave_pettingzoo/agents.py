"""Agents for PettingZoo's loop: they see the live environment that they are bound to.

::

    agent = RaveAgent(env, simulations=500)
    for name in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        env.step(None if termination or truncation else agent.act(observation))
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from rave_agents.agents import AgentSpec, make_limit
from rave_agents.config import Limit, SearchConfig, check_names, unknown_name
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.game import GameState
from rave_agents.result import SearchResult
from rave_agents.searcher import Searcher, check_moves, checked_seed
from rave_pettingzoo.cloning import check_env, raw_env
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.states import AECState, game_state
from rave_pettingzoo.support import (
    allowed_actions,
    check_begun,
    check_discrete,
    check_searchable,
    check_worlds,
    is_parallel,
    masked_actions,
    turn_based_env,
)
from rave_pettingzoo.worlds import WorldFunction, check_world_function

OWN_PARAMETERS = ("env", "simulations", "seconds", "seed", "player", "translate", "worlds")


class LoopAgent:
    """What all agents for the loop have in common; subclasses choose an action.

    Args:
        env: the live environment; it is looked at and never changed.
        player: the name of the agent that is played for, in a Parallel environment, where agents
            move at the same time; None in AEC environments, which tell whose turn it is.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: as for ``SearchAgent``; ``choose`` gets a state that has them. Without, it has the
            true state, hidden cards included, and must itself heed ``hides_information()``.

    Raises:
        TypeError: if ``env`` is no environment of PettingZoo.
        ValueError: if ``player`` is none of its agents, or missing, or not wanted.
        UnsupportedGameError: if the search cannot play it; it says why.
    """

    def __init__(
        self,
        env: Any,
        *,
        player: Any = None,
        translate: bool = True,
        worlds: WorldFunction | None = None,
    ) -> None:
        check_env(env)
        _check_player(env, player)
        self.player = player
        """The agent that is played for in a Parallel environment; None elsewhere."""
        if not isinstance(translate, bool):
            raise TypeError(f"translate must be True or False, got {translate!r}.")
        self.translate = translate
        """Whether searches may play in OpenSpiel's states."""
        check_world_function(worlds)
        self.worlds = worlds
        """The source of worlds of the user's own, if any."""
        self._check_playable(env)
        self.env = env
        """The live environment."""

    def act(self, observation: Any = None, action_mask: Any = None) -> int:
        """Choose an action for the agent that the environment has selected, or for ``player``.

        In a Parallel environment ``step`` takes the actions of all agents at once: ask an agent for
        each.

        Args:
            observation: what it sees; used only to check that it has the environment's mask. In a
                Parallel environment it is where the mask comes from: give what ``reset`` or
                ``step`` returned for the player, or the whole mapping where the others' masks
                matter to the search too.
            action_mask: the mask, where the observation has none; likewise.

        Raises:
            ValueError: if the environment has not been reset, if the selected agent is out (step
                with None then), or if the mask is not that of the environment now.
        """
        return self._act(self.env, observation, action_mask)

    def predict(
        self,
        observation: Any = None,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        *,
        action_masks: Any = None,
    ) -> tuple[int, Any]:
        """Choose an action as a Stable-Baselines3 model does: the action and ``state`` as it came.

        Raises:
            ValueError: as ``act``.
        """
        return self._act(self.env, observation, action_masks), state

    def __call__(self, env: Any) -> int:
        """Choose an action in this environment, whatever the agent is bound to.

        Raises:
            ValueError: as ``act``.
            TypeError, UnsupportedGameError: as the constructor.
        """
        if env is not self.env:
            check_env(env)
            self._check_playable(env)
        return self._act(env, None, None)

    def reset(self) -> None:
        """Forget what was found: a new game begins. Not needed, only tidy."""

    def choose(self, state: GameState) -> int:
        """The action to play at a position."""
        raise NotImplementedError

    def _check_playable(self, env: Any) -> None:
        check_searchable(env, simultaneous=is_parallel(env))

    def _act(self, env: Any, observation: Any, mask: Any) -> int:
        if is_parallel(env):
            return self.choose(self._parallel_state(env, observation, mask))
        _check_selected(env)
        state = game_state(env, translate=self.translate, worlds=self.worlds)
        _check_mask(observation, mask, state.legal_actions())
        return self.choose(state)

    def _parallel_state(self, env: Any, observation: Any, mask: Any) -> ParallelState:
        if self.player not in env.agents:
            raise ValueError(f"{self.player!r} is out of the game, or the environment not reset.")
        observations = {self.player: observation}
        if isinstance(observation, Mapping) and set(observation) & set(env.possible_agents):
            observations = dict(observation)
        infos = {} if mask is None else {self.player: {"action_mask": mask}}
        return ParallelState(
            env,
            observations=observations,
            infos=infos,
            simultaneous=True,
        )


class SearchAgent(LoopAgent):
    """Plays what a search of the live environment finds; subclasses name a preset.

    The tree is kept between moves where the moves since are known: in the classic board games and
    in Shimmy's environments.

    Where something is hidden from the agent, each simulation begins in another world that it cannot
    tell from the live environment (``hidden="determinize"``), and no tree is kept. Worlds come from
    ``worlds``; Shimmy's environments have those of OpenSpiel's game.

    Args:
        env: the live environment; it is looked at and never changed.
        simulations: simulations for each move, at least 1. Those in the kept tree count.
        seconds: wall-clock seconds for each move, above 0. With neither, 1,000 simulations.
        seed: decides everything random, an integer of at least 0; None for one that is drawn.
        player: the agent to play for in a Parallel environment, see ``LoopAgent``.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: where something is hidden, a function ``worlds(env, agent, rng)`` that returns an
            environment which ``agent``, who is to move, cannot tell from the live one. ``env`` is a
            copy that it may change and return; it draws by the ``numpy.random.Generator`` ``rng``,
            what is still to come included, such as the order of a deck. Each is checked. To give
            one says that the environment hides something, known or not.
        **config: fields of ``SearchConfig`` to change from the preset.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: (a ValueError) if the search cannot play the environment, or something
            is hidden and there are no worlds, unless ``hidden="see"`` allows it to cheat.
    """

    preset: ClassVar[str] = "uct"
    """The preset of ``SearchConfig`` that the agent starts from."""

    def __init__(
        self,
        env: Any,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        player: Any = None,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        **config: Any,
    ) -> None:
        names = (*OWN_PARAMETERS, *SearchConfig.field_names())
        check_names(f"parameter of {type(self).__name__}", config, names)
        self.config = SearchConfig.preset(self.preset).replace(**config)
        """The search's tunables."""
        super().__init__(env, player=player, translate=translate, worlds=worlds)
        self.limit: Limit = make_limit(simulations, seconds)
        """The budget of each move; it may be set between moves."""
        self.seed = checked_seed(seed)
        """The seed that was given."""
        check_moves(self.config, simultaneous=is_parallel(env))
        self.last_result: SearchResult | None = None
        """What the last search found; None before the first."""
        self._searcher = Searcher(self.config, seed=self.seed)
        self._searched: GameState | None = None

    def reset(self) -> None:
        """Forget the tree: a new game begins."""
        self._searcher.reset()
        self._searched = None

    def choose(self, state: GameState) -> int:
        """Search the position, going on from the kept tree if it leads there."""
        if self.config.reuse_tree and self._searched is not None:
            self._follow(moves_between(self._searched, state))
        self._searched = None
        seat = None if self.player is None else self.env.possible_agents.index(self.player)
        self.last_result = self._searcher.search(state, self.limit, player=seat)
        self._searched = state
        return self.last_result.action

    def _check_playable(self, env: Any) -> None:
        super()._check_playable(env)
        check_worlds(env, self.config, self.worlds, translate=self.translate)

    def _follow(self, moves: Sequence[int] | None) -> None:
        if moves is None:
            self._searcher.reset()
            return
        for move in moves:
            self._searcher.advance(move)


class UCTAgent(SearchAgent):
    """Plain UCT."""

    preset = "uct"


class RaveAgent(SearchAgent):
    """UCT with rapid action value estimation (RAVE)."""

    preset = "rave"


class GraveAgent(SearchAgent):
    """RAVE with the values of a well-visited ancestor (GRAVE)."""

    preset = "grave"


class RaveMaximinAgent(SearchAgent):
    """For Parallel environments: RAVE for its own actions, then the best worst case."""

    preset = "rave_maximin"


class RegretMatchingAgent(SearchAgent):
    """For Parallel environments: mixed strategies by regret matching."""

    preset = "regret_matching"


class PNMCTSAgent(SearchAgent):
    """UCT with a solver and proof numbers (PN-MCTS)."""

    preset = "pn_mcts"


class RandomLoopAgent(LoopAgent):
    """Plays a legal action uniformly at random.

    It looks at nothing but the mask, so hidden cards and simultaneous moves are no obstacle.
    """

    def __init__(self, env: Any, *, seed: int | None = None, **options: Any) -> None:
        super().__init__(env, **options)
        self._random = np.random.default_rng(checked_seed(seed))

    def choose(self, state: GameState) -> int:
        """A random legal action."""
        return int(self._random.choice(state.legal_actions()))

    def _check_playable(self, env: Any) -> None:
        check_discrete(env)

    def _act(self, env: Any, observation: Any, mask: Any) -> int:
        if is_parallel(env):
            info = None if mask is None else {"action_mask": mask}
            if isinstance(observation, Mapping) and self.player in observation:
                observation = observation[self.player]
            size = int(env.action_space(self.player).n)
            return int(self._random.choice(allowed_actions(observation, info, size)))
        turns = turn_based_env(env)
        env = env if turns is None else turns
        _check_selected(env)
        check_begun(env)
        if not hasattr(env, "agent_selection"):
            raise UnsupportedGameError(
                f"{env} does not tell whose turn it is: a random agent plays in AEC environments."
            )
        legal = masked_actions(env)
        _check_mask(observation, mask, legal)
        return int(self._random.choice(legal))


def make_agent(
    spec: str | AgentSpec,
    env: Any,
    *,
    player: Any = None,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    **defaults: Any,
) -> LoopAgent:
    """An agent for the loop from its spec, such as ``make_agent("rave(simulations=500)", env)``.

    Args:
        spec: the name of a preset (``rave_agents.SearchConfig.preset_names()``) or ``random``, with
            parameters in parentheses.
        env: the live environment.
        player: as for ``SearchAgent``.
        translate: likewise.
        worlds: likewise.
        **defaults: parameters for what the spec leaves open, such as ``simulations`` or ``seed``.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        TypeError, ValueError, UnsupportedGameError: as ``SearchAgent``.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    if not isinstance(parsed, AgentSpec):
        raise TypeError(f"spec must be a text such as 'rave(simulations=500)', got {spec!r}.")
    names = (*SearchConfig.preset_names(), "random")
    if parsed.name not in names:
        raise UnknownNameError(unknown_name("agent", parsed.name, names))
    parsed = parsed.with_defaults(defaults)
    known = {"seed"}
    if parsed.name != "random":
        known |= {"simulations", "seconds", *SearchConfig.field_names()}
    for key in parsed.parameters:
        if key not in known:
            raise UnknownNameError(unknown_name(f"parameter of {parsed.name}", key, known))
    options = {**parsed.parameters, "player": player, "translate": translate, "worlds": worlds}
    if parsed.name == "random":
        return RandomLoopAgent(env, **options)
    kind = next((k for k in _NAMED if k.preset == parsed.name), None)
    if kind is None:
        kind = type("SearchAgent", (SearchAgent,), {"preset": parsed.name})
    return kind(env, **options)


_NAMED: tuple[type[SearchAgent], ...] = (
    UCTAgent,
    RaveAgent,
    GraveAgent,
    PNMCTSAgent,
    RaveMaximinAgent,
    RegretMatchingAgent,
)


def moves_between(before: GameState, after: GameState) -> Sequence[int] | None:
    """The actions that lead from one searched position to a later one, if they can be told."""
    if isinstance(before, AECState) and isinstance(after, AECState):
        return before.moves_to(after)
    old, new = getattr(before, "state", None), getattr(after, "state", None)
    if old is None or new is None or str(old.get_game()) != str(new.get_game()):
        return None
    start, history = list(old.history()), list(new.history())
    return history[len(start) :] if history[: len(start)] == start else None


def _check_player(env: Any, player: Any) -> None:
    agents = list(raw_env(env).possible_agents)
    if not is_parallel(env):
        if player is not None:
            raise ValueError(
                "player is for Parallel environments, where agents move at the same time: this one "
                f"tells whose turn it is. Leave it out, got {player!r}."
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
        return  # The state's constructor says what is wrong.
    if out:
        raise ValueError(f"{agent!r} is out of the game: call env.step(None) for it.")


def _check_mask(observation: Any, mask: Any, actions: Sequence[int]) -> None:
    if mask is None and isinstance(observation, Mapping):
        mask = observation.get("action_mask")
    if mask is None:
        return
    given = np.flatnonzero(np.ravel(np.asarray(mask))).tolist()
    legal = sorted(actions)
    if given != legal:
        raise ValueError(
            f"The mask allows {given}, the environment {legal}: the observation is not that of the "
            "agent whose turn it is in the environment that this agent is bound to."
        )
