"""Simulations in copies of an environment, with the search's own random numbers."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.environments.chance import ChanceMetError
from rave_agents.environments.dice import Dice
from rave_agents.game.game_state import PlayerId
from rave_agents.simulate.checked_answers import SIMULTANEOUS, TERMINAL
from rave_agents.simulate.python_simulator import (
    EXPAND,
    FRAME_FULL,
    PATH_LENGTH,
    PLAYER,
    STOPPED,
    PythonSimulator,
    world_key,
)
from rave_agents.simulate.simulator import DeadlinePassed, Frame, SimulationDropped
from rave_agents.simulate.world_record import RecordedWorlds

WATCH_PERIOD = 16
"""Simulations between two checks that no generator was used unexpectedly."""


class EnvironmentSimulator(PythonSimulator):
    """Provider of simulations in an environment, which draw from the search's generators.

    Args:
        root: the state to begin from; its clones draw from the dice's generators.
        frame: the buffers shared with the loop.
        dice: the search's random numbers.
        met: called with the names of generators that a simulation used although no chance had been
            detected; the search then ends with ChanceMetError. None if chance is known.
        options: as for ``PythonSimulator``.
    """

    def __init__(
        self,
        root: Any,
        frame: Frame,
        *,
        dice: Dice,
        met: Callable[[Sequence[str]], None] | None,
        **options: Any,
    ) -> None:
        self._dice = dice
        self._met = met
        self._count = 0
        super().__init__(root, frame, **options)

    def _simulate(self) -> int:
        if self._met is not None:
            return self._watched(self._met)
        self._dice.rewind()
        return self._simulate_here()

    def slice(self) -> contextlib.AbstractContextManager[object]:
        """Return the context in which simulations run, with the search's generators in place."""
        return self._dice

    def _watched(self, met: Callable[[Sequence[str]], None]) -> int:
        # Generators are compared often at first, when chance is met, and seldom afterwards.
        self._count += 1
        try:
            status = self._simulate_here()
        except SimulationDropped:
            raise
        except Exception as error:
            self._look(met, error)
            raise
        if self._count < WATCH_PERIOD or self._count % WATCH_PERIOD == 0:
            self._look(met, None)
        return status

    def _look(self, met: Callable[[Sequence[str]], None], cause: Exception | None) -> None:
        used = self._dice.used()
        if used:
            met(used)
            raise ChanceMetError from cause

    def _simulate_here(self) -> int:
        return super()._simulate()


class WorldSimulator(EnvironmentSimulator):
    """Provider of simulations that each begin in another determinization (world) of the root.

    ``root.begun_worlds(unit)`` returns the source of worlds, which draw from the search's
    generators.
    """

    def world_source(self) -> RecordedWorlds:
        """Return the source of worlds, a function that draws a new one at each call."""
        source: Callable[[], Any] = self.root.begun_worlds(self.words.unit)
        if self.root.hides_information():
            return RecordedWorlds(source, method="function", key=world_key)
        return RecordedWorlds(
            source, method="random numbers", key=lambda world: None, independent=True
        )


class OpenLoopSimulator(EnvironmentSimulator):
    """Provider of open-loop simulations: simultaneous moves with chance or hidden information.

    A node of the tree is a sequence of joint actions with all their outcomes (open loop;
    Perez Liebana et al. 2015). Every agent therefore has actions at every node: an agent that is
    out has one that does nothing, and a random legal action replaces an action that is illegal in a
    simulation. A leaf at which the game is over gets a node like any other, since it may go on in
    other simulations.
    """

    def __init__(self, root: Any, frame: Frame, **options: Any) -> None:
        super().__init__(root, frame, **options)
        self._world_of_its_own: Callable[[], Any] = root.begun_worlds(self.words.unit)

    def leaf(self, path: Sequence[int]) -> Any:
        """Return the position after a path of actions, with outcomes drawn for this simulation."""
        state = self._world_of_its_own()
        for start in range(0, len(path), self._num_players):
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            if state.current_player() == TERMINAL:
                break
            state.apply_actions(
                [
                    self._possible(state, player, action)
                    for player, action in enumerate(path[start : start + self._num_players])
                ]
            )
        return state

    def _possible(self, state: Any, player: int, action: int) -> int:
        # In open loop a node is a sequence of actions, whose outcomes may differ: an action of the
        # path may be illegal in this simulation's state.
        legal = state.legal_actions(player)
        return action if action in legal else int(legal[self.words.below(len(legal))])

    def _simulate_here(self) -> int:
        header = self._header
        if time.perf_counter() > self.deadline:
            return STOPPED
        state = self.leaf(self.actions_of(self._path[: header[PATH_LENGTH]].tolist()))
        over = state.current_player() == TERMINAL
        header[PLAYER] = SIMULTANEOUS
        if header[EXPAND] and not self._list_actions(_Open(state) if over else state, SIMULTANEOUS):
            return FRAME_FULL
        if over:
            return self._give_returns(self.checked_returns(state.returns()))
        if self._evaluator is not None:
            return self._give_returns(self.checked_values(state))
        return self._play(state)


class _Open:
    """A terminal position, shown as one at which every agent has all its actions."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def current_player(self) -> int:
        return int(PlayerId.SIMULTANEOUS)

    def num_players(self) -> int:
        return int(self._state.num_players())

    def legal_actions(self, player: int) -> Sequence[int]:
        return self._state.all_actions(player)  # type: ignore[no-any-return]
