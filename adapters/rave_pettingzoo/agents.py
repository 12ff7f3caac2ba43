"""Agents for PettingZoo's environment loop, each bound to a live environment.

::

    agent = RaveAgent(env, simulations=500)
    for name in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        env.step(None if termination or truncation else agent.act(observation))
"""

from typing import Any, Unpack

from rave_agents.agents.amaf_fit import warn_of_misfit
from rave_agents.agents.environment_agent import environment_spec, kind_of_preset
from rave_agents.agents.named_agents import DEFAULT_AGENT, AgentSpec
from rave_agents.agents.searching_agent import ClockLike, SearchingAgent
from rave_agents.config.search_parameters import SearchParameters
from rave_agents.environments.chance import Chance
from rave_agents.environments.plan import AUTO
from rave_agents.environments.worlds import WorldFunction
from rave_agents.game.game_state import GameState
from rave_agents.searcher.checks import check_moves
from rave_pettingzoo.checks import check_worlds
from rave_pettingzoo.loop_agent import LoopAgent, RandomLoopAgent
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.structure import is_parallel


class SearchAgent(SearchingAgent, LoopAgent):
    """Plays what a search of the live environment finds; subclasses name a preset.

    The tree is kept between moves where the moves since are known: in the classic board games and
    in Shimmy's environments.

    With hidden information each simulation begins in another world, which looks like the live
    environment to the agent (``hidden="determinize"``), and no tree is kept. Worlds come from
    ``worlds``; Shimmy's environments have those of OpenSpiel's game.

    Args:
        env: the live environment, which is read and never changed. Or a vectorised one of
            Supersuit's, see ``LoopAgent``.
        player: the agent to play for in a Parallel environment, see ``LoopAgent``.
        translate: whether searches may play in OpenSpiel's states where these are the same.
        worlds: where something is hidden, a function ``worlds(env, agent, rng)`` that returns an
            environment that ``agent``, who is to move, cannot distinguish from the live one.
            ``env`` is a copy that it may change and return; it draws by ``rng``, a
            ``numpy.random.Generator``, everything still to come included, such as the order of a
            deck. Each is checked. Giving one declares that the environment hides something, known
            or not. In a Parallel environment ``agent`` is ``player``, and only a world's agents can
            be checked.
        chance: where the environment's steps have random outcomes, ``"draw"`` lets each simulation
            draw its own; ``"see"`` copies the environment's generators, so that the search knows
            what will come: it cheats, and says so. The chance detected is in the result's
            ``state.chance``.
        horizon: steps that a simulation looks ahead, at least 1: moves in an AEC environment, joint
            moves in a Parallel one; None for the end of the game; ``"auto"`` for the end in the
            classic environments and in Shimmy's, else 1,000; in Hanabi 6 moves, where each life
            left counts 2 points unless ``evaluator`` is given. A simulation that it cuts off counts
            its rewards so far, plus the value that ``evaluator`` gives to its last position, if it
            values single positions. With a horizon no tree is kept.
        discount: the factor on a reward for every step, above 0 and at most 1.
        simulations: with ``seconds``, ``clock``, ``seed``, ``evaluator`` and
            ``**config`` as for ``rave_agents.agents.searching_agent.SearchingAgent``.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: (a ValueError) if the search cannot play the environment, or something
            is hidden and there are no worlds, unless ``hidden="see"`` allows it to cheat.
    """

    own_parameters = (
        "env",
        "player",
        "translate",
        "worlds",
        "chance",
        "horizon",
        "discount",
    )

    def __init__(
        self,
        env: Any,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: ClockLike = None,
        seed: int | None = None,
        evaluator: Any = None,
        player: Any = None,
        translate: bool = True,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        **config: Unpack[SearchParameters],
    ) -> None:
        # First: ``LoopAgent`` reads the configuration and the evaluator.
        SearchingAgent.__init__(
            self,
            simulations=simulations,
            seconds=seconds,
            clock=clock,
            seed=seed,
            evaluator=evaluator,
            **config,
        )
        if self.config.hidden == "see":  # The true state is searched: a given source is unused.
            worlds = None
        LoopAgent.__init__(
            self,
            env,
            player=player,
            translate=translate,
            worlds=worlds,
            chance=chance,
            horizon=horizon,
            discount=discount,
            evaluator=self.evaluator,
        )
        check_moves(self.config, simultaneous=self._rows is not None or is_parallel(env))
        self._bind_members(self._rows or ())

    def choose(self, state: GameState) -> int:
        """Search the position, going on from the kept tree if it leads there."""
        if not self._searcher.has_searched:
            warn_of_misfit(self.config, str(self.env), lambda: state)
        if isinstance(state, ParallelState):
            state.check_worlds(self.config)
        seat = None
        if self.player is not None and isinstance(state, ParallelState):
            seat = state.seat(self.player)
        # The clock runs from ``act`` on: copying and checking the environment take their time.
        limit = self.limit if self._asked is None else self._limit_from(self._asked)
        self._asked = None
        return self._searcher.choose(
            state, limit, player=seat, clock=self.clock, reuse=self.config.reuse_tree
        )

    def _check_playable(self, env: Any) -> None:
        super()._check_playable(env)
        check_worlds(env, self.config, self.worlds, translate=self.translate)


class UCTAgent(SearchAgent, preset="uct"):
    """Plain UCT."""


class PUCTAgent(SearchAgent, preset="puct"):
    """UCT with prior probabilities (PUCT), such as an evaluator's."""


class GumbelAgent(SearchAgent, preset="gumbel"):
    """Sequential halving with Gumbel noise, for few simulations with an evaluator."""


class RaveAgent(SearchAgent, preset="rave"):
    """UCT with rapid action value estimation (RAVE)."""


class GraveAgent(SearchAgent, preset="grave"):
    """RAVE with the values of a well-visited ancestor (GRAVE)."""


class MCPSAgent(SearchAgent, preset="mcps"):
    """GRAVE, and statistics of permuted paths (MCPS)."""


class RaveMaximinAgent(SearchAgent, preset="rave_maximin"):
    """RAVE for its own actions in Parallel environments, then the best worst case."""


class RegretMatchingAgent(SearchAgent, preset="regret_matching"):
    """Mixed strategies in Parallel environments, by regret matching."""


class AutoAgent(SearchAgent, preset="auto"):
    """A search for any game: AMAF statistics and proofs, each where it fits."""


class PNMCTSAgent(SearchAgent, preset="pn_mcts"):
    """UCT with a solver and proof numbers (PN-MCTS)."""


def make_agent(
    spec: str | AgentSpec = DEFAULT_AGENT,
    env: Any = None,
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
        env: the live environment, which must be given.
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
    parsed = environment_spec(spec, env, defaults, plain=True)
    options = {
        "chance": chance,
        **parsed.parameters,
        "player": player,
        "translate": translate,
        "worlds": worlds,
    }
    if parsed.name == "random":
        return RandomLoopAgent(env, **options)
    return kind_of_preset(SearchAgent, parsed.name)(env, **options)
