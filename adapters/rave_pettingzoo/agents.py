"""Agents for PettingZoo's environment loop, each bound to a live environment.

::

    agent = RaveAgent(env, simulations=500)
    for name in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        env.step(None if termination or truncation else agent.act(observation))
"""

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from rave_agents.agents.named_agents import AgentSpec, make_limit
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import Chance
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import check_names, checked_seed, unknown_name
from rave_agents.game.game_state import GameState
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.checks import check_moves
from rave_agents.searcher.searcher import Searcher
from rave_pettingzoo.loop_agent import LoopAgent, RandomLoopAgent
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.states import AECState
from rave_pettingzoo.support import check_worlds, is_parallel
from rave_pettingzoo.worlds import WorldFunction

OWN_PARAMETERS = (
    "env",
    "simulations",
    "seconds",
    "seed",
    "player",
    "translate",
    "worlds",
    "chance",
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
            one says that the environment hides something, known or not. In a Parallel environment
            ``agent`` is ``player``, and only the agents of a world can be checked.
        chance: where the environment's steps have random outcomes, ``"draw"`` lets each simulation
            draw its own; ``"see"`` copies the environment's generators, so that the search knows
            what will come: it cheats, and says so. What was found of chance is in the result's
            ``state.chance``.
        **config: what ``SearchConfig.replace`` is to change of the preset.

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
        chance: Chance | str = Chance.DRAW,
        **config: Any,
    ) -> None:
        preset = SearchConfig.preset(self.preset)
        preset.check_changes(f"parameter of {type(self).__name__}", config, OWN_PARAMETERS)
        self.config: SearchConfig = preset.replace(**config)
        """The search's configuration."""
        if self.config.hidden == "see":
            worlds = None
        super().__init__(env, player=player, translate=translate, worlds=worlds, chance=chance)
        self.limit: Limit = make_limit(simulations, seconds)
        """The budget of each move; it may be replaced between moves."""
        self.seed: int | None = checked_seed(seed)
        """The seed that was given."""
        check_moves(self.config, simultaneous=is_parallel(env))
        self.last_result: SearchResult | None = None
        """The result of the last search; None before the first."""
        self._searcher = Searcher(self.config, seed=self.seed)
        self._searched: GameState | None = None

    def __copy__(self) -> Self:
        """Return an independent agent with a copy of the tree, bound to the same environment."""
        twin = super().__copy__()
        twin._searcher = copy.copy(self._searcher)
        return twin

    def reset(self) -> None:
        """Start a new game: forget the tree."""
        self._searcher.reset()
        self._searched = None

    def choose(self, state: GameState) -> int:
        """Search the position, with the kept tree if it contains the position."""
        if self.config.reuse_tree and self._searched is not None:
            self._follow(moves_between(self._searched, state))
        self._searched = None
        if isinstance(state, ParallelState):
            state.check_worlds(self.config)
        seat = None
        if self.player is not None and isinstance(state, ParallelState):
            seat = state.seat(self.player)
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


def make_agent(
    spec: str | AgentSpec,
    env: Any,
    *,
    player: Any = None,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    chance: Chance | str = Chance.DRAW,
    **defaults: Any,
) -> LoopAgent:
    """Make an agent for the loop from its spec: ``make_agent("rave(simulations=500)", env)``.

    Args:
        spec: the name of a preset (``rave_agents.SearchConfig.preset_names()``) or ``random``, with
            parameters in parentheses.
        env: the live environment.
        player: as for ``SearchAgent``.
        translate: as for ``SearchAgent``.
        worlds: as for ``SearchAgent``.
        chance: as for ``SearchAgent``; the spec may set it too, as in ``"uct(chance=see)"``.
        **defaults: values for parameters that the spec leaves open, such as ``simulations`` or
            ``seed``.

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
    limits = ("seed", "simulations", "seconds")
    plain = parsed.name == "random"
    preset = SearchConfig.preset("uct" if plain else parsed.name)
    preset.check_changes("parameter of make_agent", defaults, limits)
    parsed = parsed.with_defaults(defaults)
    if plain:
        check_names("parameter of random", parsed.parameters, ("seed",), UnknownNameError)
    else:
        of_agents = ("chance", *limits)
        preset.check_changes(
            f"parameter of {parsed.name}", parsed.parameters, of_agents, UnknownNameError
        )
    options = {
        "chance": chance,
        **parsed.parameters,
        "player": player,
        "translate": translate,
        "worlds": worlds,
    }
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
    """Return the actions from one searched position to a later one; None if unknown."""
    if isinstance(before, AECState) and isinstance(after, AECState):
        return before.moves_to(after)
    old, new = getattr(before, "state", None), getattr(after, "state", None)
    if old is None or new is None or str(old.get_game()) != str(new.get_game()):
        return None
    start, history = list(old.history()), list(new.history())
    return history[len(start) :] if history[: len(start)] == start else None
