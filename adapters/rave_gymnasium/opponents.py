"""Opponents of ``Opponent-v0``: specs, policies, lists of them, folders of checkpoints."""

import importlib
import json
import pathlib
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rave_agents.agents.libraries import from_sb3
from rave_agents.agents.named_agents import AgentSpec, as_agent, make_agent
from rave_agents.agents.own_agents import SHAPES, Player
from rave_agents.agents.state_agents import StateAgent
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, AgentAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.object_names import split_place

Observe = Callable[[GameState, int], Any]
"""Returns a seat's observation of a state, in the learner's form."""

Loader = Callable[[pathlib.Path], Any]
"""Makes a policy from a checkpoint's file."""


class Opponent:
    """The player of the other seat in one game.

    Args:
        name: its name.
        agent: the agent.
    """

    def __init__(self, name: str, agent: Agent) -> None:
        self.name = name
        self.agent = agent

    def restart(self) -> None:
        """Begin a new game."""
        self.agent.restart()

    def choose(self, state: GameState) -> Any:
        """Return an action, which may be illegal."""
        # A ``Player`` copies the state itself, if the user's agent reads it.
        return self.agent.step(state if isinstance(self.agent, Player) else state.clone())

    def saw(self, state: GameState, player: int, action: int) -> None:
        """Receive a move."""
        self.agent.inform_action(state, player, action)

    def saw_all(self, state: GameState, actions: Sequence[int]) -> None:
        """Receive simultaneous moves."""
        inform = AgentAbilities(self.agent).inform_actions
        if inform is not None:
            inform(state, actions)


class Opponents:
    """Parser of ``opponent``, which draws the opponent of each game.

    Args:
        given: an agent of any kind, see ``rave_agents.as_agent``; a folder of checkpoints, as a
            path, of which each game draws one; or a list of these, of which each game draws one.
        game: the game.
        observe: what policies see.
        load: makes a policy from a checkpoint's file; None for models of Stable-Baselines3
            (``.zip``).

    Raises:
        TypeError, ValueError: for anything else, or an empty list.
        UnknownNameError, UnsupportedGameError: for an agent that cannot play the game.
    """

    def __init__(self, given: Any, game: Game, observe: Observe, load: Loader | None) -> None:
        self._game = game
        self._observe = observe
        self._load = load_stable_baselines if load is None else load
        self._loaded: dict[tuple[str, int], AgentSpec] = {}
        self._kept: dict[str, StateAgent] = {}
        self.choices: tuple[Any, ...] = self._checked(given)
        """Choices of which each game draws one: agents and folders."""

    def _checked(self, given: Any) -> tuple[Any, ...]:
        if isinstance(given, list | tuple):
            if not given:
                raise ValueError("opponent must not be an empty list.")
            return tuple(choice for each in given for choice in self._checked(each))
        if isinstance(given, pathlib.Path) or (isinstance(given, str) and _is_path(given)):
            folder = pathlib.Path(given)
            if not folder.is_dir():
                raise ValueError(f"opponent must be an existing folder of checkpoints: {given}.")
            return (folder,)
        if given is None:
            raise TypeError(f"opponent must not be None: {SHAPES}; a folder, or a list of these.")
        try:
            agent = as_agent(given)
        except TypeError as error:
            raise TypeError(f"opponent cannot be {given!r}: {error}") from error
        if agent.is_named:
            for seat in (0, 1):  # Fail now, rather than in the first game of that seat.
                make_agent(agent, self._game, seat)
        return (agent,)

    def draw(self, random: np.random.Generator, seat: int) -> Opponent:
        """Draw the opponent of the next game, in a seat.

        Raises:
            ValueError: if there is none: all folders lack checkpoints.
        """
        while True:
            groups = [self._open(choice) for choice in self.choices]
            groups = [group for group in groups if group]
            if not groups:
                raise ValueError(
                    "There is no opponent: "
                    f"{', '.join(map(str, self.choices))} has no checkpoint (*.zip) yet. Save "
                    "one first, or give a list with another opponent too."
                )
            # First the group, then its member: a folder weighs as much as any other opponent.
            group = groups[int(random.integers(len(groups))) if len(groups) > 1 else 0]
            chosen = group[int(random.integers(len(group))) if len(group) > 1 else 0]
            try:
                agent = self._loaded_from(chosen) if isinstance(chosen, pathlib.Path) else chosen
            except FileNotFoundError:
                continue  # The training process has just removed it.
            return Opponent(str(chosen), self._made(agent, seat, int(random.integers(2**31))))

    def _made(self, agent: AgentSpec, seat: int, seed: int) -> Agent:
        if not agent.is_named:
            return agent.make(self._game, seat, seed, self._observe)
        kept = self._kept.get(str(agent))
        if kept is not None:
            kept.begin_anew(seed, seat)
            return kept
        made = make_agent(agent, self._game, seat, seed=seed)
        # Users' evaluators may remember things, and a spec's own seed makes all games alike.
        if (
            isinstance(made, StateAgent)
            and made.evaluator is None
            and "seed" not in agent.parameters
        ):
            self._kept[str(agent)] = made
        return made

    def _open(self, choice: Any) -> Sequence[Any]:
        """One opponent, or the checkpoints of a folder."""
        if not isinstance(choice, pathlib.Path):
            return [choice]
        files = (path for path in choice.iterdir() if path.is_file())
        # Hidden files may be unfinished: a trainer can write there first, then rename.
        shown = (path for path in files if not path.name.startswith("."))
        if self._load is load_stable_baselines:
            shown = (path for path in shown if path.suffix == ".zip")
        return sorted(shown)  # File systems list in any order, and draws must repeat.

    def _loaded_from(self, path: pathlib.Path) -> AgentSpec:
        """The agent of a checkpoint, loaded again only if its file has changed."""
        key = str(path), path.stat().st_mtime_ns
        if key not in self._loaded:
            self._loaded[key] = as_agent(self._load(path))
        return self._loaded[key]


def _is_path(text: str) -> bool:
    place = split_place(text)
    named = place is not None and (place[0].endswith(".py") or place[1].isidentifier())
    return ("/" in text or "\\" in text) and "(" not in text and not named


_ALGORITHMS = (
    ("sb3_contrib.common.maskable", "sb3_contrib", "MaskablePPO"),
    ("sb3_contrib.common.recurrent", "sb3_contrib", "RecurrentPPO"),
    ("sb3_contrib.qrdqn", "sb3_contrib", "QRDQN"),
    ("stable_baselines3.dqn", "stable_baselines3", "DQN"),
    ("stable_baselines3.common", "stable_baselines3", "PPO"),
)
"""Classes that load saved models, by the module of the model's policy; A2C's are those of PPO."""


def load_stable_baselines(path: pathlib.Path) -> Any:
    """Load a model that Stable-Baselines3 or sb3-contrib saved.

    Raises:
        UnknownNameError: for any other file, or a model without discrete actions.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            saved = json.loads(archive.read("data"))
        module = str(saved["policy_class"].get("__module__", saved["policy_class"]))
    except (zipfile.BadZipFile, KeyError, ValueError, AttributeError, RecursionError) as error:
        raise UnknownNameError(
            f"{path} is not a model saved by Stable-Baselines3; load=function reads other "
            "checkpoints."
        ) from error
    for start, library, name in _ALGORITHMS:
        if module.startswith(start):
            algorithm = getattr(importlib.import_module(library), name)
            return from_sb3(algorithm.load(path, device="cpu"))
    raise UnknownNameError(f"{path}: there is no loader for {module}; load=function reads it.")
