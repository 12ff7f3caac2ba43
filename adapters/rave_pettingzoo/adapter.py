"""PettingZoo, and OpenSpiel through Shimmy, as ``rave_agents.frameworks.adapters.Adapter``."""

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import types
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pettingzoo
import pettingzoo.classic

from rave_agents.agents.views import framework_game_at
from rave_agents.config.search_config import SearchConfig
from rave_agents.config.specs import parse_call
from rave_agents.environments.chance import Knowledge, remember
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import GameInfo, unknown_game
from rave_agents.frameworks.agent import AgentType
from rave_agents.game.game_state import GameState
from rave_agents.game.object_names import find_object, parse_object_name, split_place
from rave_agents.searcher.checks import check_hidden
from rave_pettingzoo.checks import (
    check_searchable,
    hidden_information,
    is_simultaneous,
    known_worlds,
    no_worlds,
)
from rave_pettingzoo.classic import unchanged_go_rules
from rave_pettingzoo.cloning import chance_knowledge, clone_env
from rave_pettingzoo.mirror_env import MirrorEnv, check_draws
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.states import AECState, game_state
from rave_pettingzoo.structure import env_name, is_parallel, openspiel, raw_env

DESCRIPTIONS: dict[str, str] = {
    "tictactoe": "Tic-Tac-Toe",
    "connect_four": "Connect Four",
    "go": "Go",
    "chess": "Chess",
    "rps": "Rock, Paper, Scissors: simultaneous moves",
    "leduc_holdem": "Leduc Hold'em: hidden cards",
    "texas_holdem": "Texas Hold'em: hidden cards",
    "texas_holdem_no_limit": "Texas Hold'em No Limit: hidden cards",
    "gin_rummy": "Gin Rummy: hidden cards",
    "hanabi": "Hanabi: cooperative, hidden cards",
}
"""The classic environments, without their versions."""


class PettingZooGame:
    """An AEC environment with the interface ``rave_agents.frameworks.adapters.Game``.

    Args:
        name: the game's name, its parameters included.
        env: the environment; the game plays in copies of it.

    Raises:
        UnsupportedGameError: if the search cannot play it; the message says why.
        CloneError: if the environment cannot be cloned.
    """

    def __init__(self, name: str, env: Any) -> None:

        self._is_parallel = is_parallel(env)
        check_searchable(env, simultaneous=self._is_parallel)
        self._check_worlds(env, hidden_information(env))
        self.name = name
        self.num_players: int = len(env.possible_agents)
        self.env: Any = clone_env(env)
        """The environment; states are copies of it."""
        self._knowledge: Knowledge | None = None
        state = self.seeded_initial_state(0)
        # Hidden information may show only in a played position, as cards dealt at the reset.
        self._check_worlds(env, state.what_is_hidden if state.hides_information() else None)
        self._is_uncertain: bool = state.draws_chance() or state.hides_information()

    @staticmethod
    def _check_worlds(env: Any, hidden: str | None) -> None:
        if hidden is not None and known_worlds(env) is None:
            raise UnsupportedGameError(no_worlds(env, hidden))

    @functools.cached_property
    def framework_game(self) -> Any:
        """OpenSpiel's game if its actions are the same; else the environment."""
        return framework_game_at(self.new_initial_state(), self.env)

    def new_initial_state(self) -> GameState:
        """Return the state after ``reset`` with seed 0."""
        state: GameState = self.seeded_initial_state(0)
        return state

    def seeded_initial_state(self, seed: int) -> Any:
        """Return the state after ``reset`` with a seed, which decides the chance outcomes."""
        env = clone_env(self.env)
        begun = env.reset(seed=seed)
        # Detecting chance plays games of copies: do it once, and hand the result to each new copy.
        if self._knowledge is None:
            self._knowledge = chance_knowledge(env)
        remember(raw_env(env), self._knowledge)
        if self._is_parallel:
            observations, infos = begun
            return ParallelState(env, observations=observations, infos=infos)
        return AECState(env)

    def mirror(self, render_mode: str | None) -> Any:
        """Return a new environment that mirrors a game, to draw it and to show observations.

        Raises:
            UnsupportedGameError: if it does not draw in this mode.
        """
        framework, _, spec = self.name.partition(":")
        if self._is_parallel:
            raise UnsupportedGameError(
                f"{self.name} is a Parallel environment, which is not drawn next to a game."
            )
        if render_mode is None:
            return MirrorEnv(clone_env(self.env))
        if framework != "pettingzoo":
            raise UnsupportedGameError(f"{self.name} is not drawn by PettingZoo.")
        check_draws(self.env, render_mode)
        return MirrorEnv(make_env(spec, render_mode=render_mode))

    def check_search(self, config: SearchConfig) -> None:
        """Raise UnsupportedGameError if a search of this configuration cannot play the game."""
        if self._is_uncertain:
            check_hidden(config, simultaneous=False)

    def __reduce__(self) -> Any:
        return (_game_of_spec, (self.name,))  # By name: EzPickle would lose the board.


def _game_of_spec(name: str) -> PettingZooGame:
    framework, _, spec = name.partition(":")
    adapter: Any = ShimmyAdapter() if framework == "shimmy" else ADAPTER
    game: PettingZooGame = adapter.load_game(spec)
    return game


def split_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Parse a game's name and its parameters: ``go_v5(board_size=9)``.

    Raises:
        UnknownNameError: if the text does not have this form.
    """
    match = re.fullmatch(r"\s*([\w/.-]+)\s*(?:\((.*)\))?\s*", spec, re.DOTALL)
    if match is None:
        raise UnknownNameError(
            f"{spec!r} is not a game's spec, which has the form name or name(key=value,...)."
        )
    try:
        return match[1], parse_call(f"game({match[2] or ''})")[1]
    except ValueError as error:
        raise UnknownNameError(f"{spec!r} is not a game's spec: {error}") from error


def _has_only_numbers(spec: str, names: Collection[str]) -> bool:
    """Return whether a spec has one of these names, and parameters that are numbers."""
    try:
        name, parameters = split_spec(spec)
    except UnknownNameError:
        return False
    return name in names and all(isinstance(v, bool | int | float) for v in parameters.values())


@functools.cache
def classic_names() -> tuple[str, ...]:
    """The names of the classic environments of the installed version, such as ``go_v5``."""
    modules = (module.name for module in pkgutil.iter_modules(pettingzoo.classic.__path__))
    return tuple(sorted(name for name in modules if re.fullmatch(r"\w+_v\d+", name)))


def make_env(spec: str, **options: Any) -> Any:
    """Make the AEC environment of this name, without a reset.

    Args:
        spec: a classic environment (``connect_four_v3``, ``go_v5(board_size=9)``) or the id of any
            other that PettingZoo has registered (``classic/connect_four-v3``).
        **options: parameters in addition to those in the name.

    Raises:
        UnknownNameError: if there is none, or it refuses the parameters.
    """
    name, parameters = split_spec(spec)
    parameters.update(options)
    plain = name.rpartition("/")[2].replace("-", "_")
    registered = _registry("aec_registry")
    if plain not in classic_names() and name not in registered:
        raise UnknownNameError(unknown_game(name, (*classic_names(), *registered)))
    try:
        with warnings.catch_warnings():
            # Modules are deprecated since 1.27, but older versions have nothing else.
            warnings.simplefilter("ignore", DeprecationWarning)
            if name in registered:
                return pettingzoo.make("aec", name, **parameters)
            return _module(plain).env(**parameters)
    except (TypeError, ValueError, AssertionError, ImportError) as error:
        raise UnknownNameError(f"PettingZoo cannot make {spec!r}: {error}") from error


def _registry(name: str) -> Mapping[str, Any]:
    """The environments that ``pettingzoo.make`` knows; empty before PettingZoo had that."""
    found: Mapping[str, Any] = vars(pettingzoo).get(name, {})
    return found


def _module(name: str) -> Any:
    return importlib.import_module(f"pettingzoo.classic.{name}")


def make_played_env(spec: str) -> Any:
    """Make the environment of this name to play episodes in, without a reset.

    It is the Parallel form if agents move at the same time.

    Args:
        spec: as for ``make_env``; an importable module with environments, such as
            ``mpe2.simple_tag_v3``; or a function or class, ``my_module:make_env`` or
            ``./my_env.py:MyEnv``. Parameters may follow in parentheses.

    Raises:
        UnknownNameError: if there is none, or it refuses the parameters.
    """
    place = split_place(spec)
    if place is not None:
        return _user_env(*place)
    name, parameters = split_spec(spec)
    module: Any = None
    if re.fullmatch(r"\w+(\.\w+)+", name):
        # Not an error yet: the name may be an id that only looks like a module.
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
    try:
        makers = {} if module is None else vars(module)
        # Modules offer ``env`` for simultaneous moves too, but in turns that reveal earlier moves.
        if "parallel_env" in makers:
            return makers["parallel_env"](**parameters)
        if "env" in makers:
            return makers["env"](**parameters)
        if name in _registry("parallel_registry") and name not in _registry("aec_registry"):
            return pettingzoo.make("parallel", name, **parameters)
        return make_game_env(spec)
    except (TypeError, AssertionError) as error:
        raise UnknownNameError(f"PettingZoo cannot make {spec!r}: {error}") from error


def make_game_env(spec: str) -> Any:
    """Make the environment of this name, see ``make_env``; its Parallel form where all act at once.

    Raises:
        UnknownNameError: if there is none, or it refuses the parameters.
    """
    env = make_env(spec)
    if not is_simultaneous(env):
        return env
    name, parameters = split_spec(spec)
    plain = name.rpartition("/")[2].replace("-", "_")
    if plain in classic_names():
        return _module(plain).parallel_env(**parameters)
    return pettingzoo.make("parallel", name, **parameters)


def _user_env(place: str, spec: str) -> Any:
    """The environment that a function or a class of the user's own makes."""
    name, parameters = split_spec(spec)
    made = find_object(parse_object_name(f"{place}:{name}", "my_module:make_env"))
    env = made(**parameters) if callable(made) and EnvAbilities(made).reset is None else made
    if not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise UnknownNameError(f"{place}:{name} makes no environment of PettingZoo: got {env!r}.")
    return env


class PettingZooAdapter:
    """See ``rave_agents.frameworks.adapters.Adapter``."""

    name = "pettingzoo"

    def wrap(self, state: Any) -> GameState | None:
        """Return an environment's position as a GameState; None for any other object.

        Raises:
            UnsupportedGameError: if the search cannot play it.
        """
        if not isinstance(state, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
            return None

        return game_state(state)

    def wrap_game(self, game: Any) -> PettingZooGame | None:
        """Return a copy of an environment, or of a module's, as a Game; None for any other object.

        Raises:
            UnsupportedGameError, CloneError: if the search cannot play it.
        """
        if isinstance(game, types.ModuleType) and callable(vars(game).get("env")):
            game = game.env()
        if not isinstance(game, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
            return None
        return PettingZooGame(env_name(game), game)

    def load_game(self, spec: str) -> PettingZooGame:
        """Load the game of this name, such as ``connect_four_v3`` or ``go_v5(board_size=9)``.

        Where agents move at the same time, it is the Parallel form.
        """
        with unchanged_go_rules():
            return PettingZooGame(f"pettingzoo:{spec}", make_game_env(spec))

    def is_plain(self, spec: str) -> bool:
        """Return whether it is a classic environment whose parameters are numbers."""
        return _has_only_numbers(spec, classic_names())

    def games(self) -> Sequence[GameInfo]:
        """List the classic environments."""
        described = {name: DESCRIPTIONS.get(name.rpartition("_v")[0]) for name in classic_names()}
        return [GameInfo(name, found, supported=True) for name, found in described.items() if found]

    def agent_types(self) -> Mapping[str, AgentType]:
        """None of its own."""
        return {}

    def diagnosis(self) -> Mapping[str, str]:
        """Return the installed version, and in which states board games are searched."""
        translated = importlib.util.find_spec("pyspiel") is not None
        return {
            **{name: _version(name) for name in ("pettingzoo", "shimmy", "rlcard", "chess")},
            "board games": (
                "searched in OpenSpiel's states" if translated else "searched in the environment"
            ),
        }


class ShimmyAdapter:
    """OpenSpiel's games as PettingZoo environments, by Shimmy."""

    name = "shimmy"

    def __init__(self) -> None:
        for needed in ("shimmy", "pyspiel"):
            if importlib.util.find_spec(needed) is None:
                raise ImportError(f"{needed} is not installed", name=needed)

    def wrap(self, state: Any) -> GameState | None:
        """Return None: PettingZoo's adapter wraps the environments."""
        return None

    def load_game(self, spec: str) -> PettingZooGame:
        """Load the game of this name, such as ``hex(board_size=7)``.

        Shimmy's ``reset`` drops parameters inside a game's name, so they go into its config.
        """
        from shimmy.openspiel_compatibility import (  # noqa: PLC0415  (optional: Shimmy)
            OpenSpielCompatibilityV0,
        )

        name, parameters = split_spec(spec)
        known, spiel_error = openspiel().game_names(), openspiel().SpielError
        if name not in known:
            raise UnknownNameError(unknown_game(name, known))
        try:
            env = OpenSpielCompatibilityV0(game_name=name, config=parameters or None)
        except (spiel_error, NotImplementedError, TypeError) as error:
            raise UnknownNameError(f"Shimmy cannot make {spec!r}: {error}") from error
        try:
            return PettingZooGame(f"shimmy:{spec}", env)
        except spiel_error as error:  # For example a board too small, found at its first state.
            raise UnknownNameError(f"Shimmy cannot play {spec!r}: {error}") from error

    def is_plain(self, spec: str) -> bool:
        """Return whether it is a game of OpenSpiel whose parameters are numbers."""
        return _has_only_numbers(spec, openspiel().game_names())

    def games(self) -> Sequence[GameInfo]:
        """Return an empty list: OpenSpiel's adapter lists these games."""
        return []

    def agent_types(self) -> Mapping[str, AgentType]:
        """None of its own."""
        return {}

    def diagnosis(self) -> Mapping[str, str]:
        """The installed version."""
        return {"shimmy": _version("shimmy")}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


ADAPTER = PettingZooAdapter()


def __getattr__(name: str) -> Any:
    """Make ``SHIMMY_ADAPTER`` on first use: it needs Shimmy and OpenSpiel."""
    if name == "SHIMMY_ADAPTER":
        adapter = globals()[name] = ShimmyAdapter()
        return adapter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
