"""Pig, as OpenSpiel has it: ``pig(players=2,horizon=1000,winscore=100,diceoutcomes=6)``.

A player rolls a die as often as they like. A one ends the turn and loses its total; stopping adds
the total to the score, and the first to reach ``winscore`` wins. After ``horizon`` moves, outcomes
of the die not counted, nobody has won. With ``piglet`` each roll but a one counts 1 (OpenSpiel,
``pig.h``).
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.games.kit.rules import CHANCE, TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

ROLL, STOP = 0, 1
"""The actions."""


class Pig(Rules):
    """See the module."""

    name = "pig"
    uncovered = "diceoutcomes above 4096, horizon or winscore below 1"
    players: Annotated[int, Ge(2), Le(10)] = 2
    horizon: Annotated[int, Ge(1)] = 1000
    winscore: Annotated[int, Ge(1)] = 100
    diceoutcomes: Annotated[int, Ge(1), Le(4096)] = 6
    piglet: bool = False
    num_distinct_actions = 2

    def setup(self) -> None:
        """Set what depends on the parameters."""
        self.num_players: int = self.players
        self.max_actions: int = max(2, self.diceoutcomes)
        self.max_game_length: int = self.horizon
        self.fields: dict[str, Any] = {
            "scores": (np.int64, self.players),
            **dict.fromkeys(("total", "turn", "rolls", "moves", "is_over"), np.int64),
        }

    def player(self, state: Any) -> int:
        """The player whose turn it is, or the die."""
        if state.is_over:
            return TERMINAL
        return CHANCE if state.rolls else state.turn

    def legal_actions(self, state: Any, actions: Any) -> int:
        """To roll and to stop; who has enough stops."""
        if state.scores[state.turn] + state.total >= self.winscore:
            actions[0] = STOP
            return 1
        actions[0], actions[1] = ROLL, STOP
        return 2

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Every number of the die; with ``piglet``, a one and all the others."""
        count = 2 if self.piglet else self.diceoutcomes
        for outcome in range(count):
            actions[outcome] = outcome
            probabilities[outcome] = 1.0 / self.diceoutcomes
        if self.piglet:
            probabilities[1] = 1.0 - probabilities[0]
        return count

    def play(self, state: Any, action: int) -> None:
        """Roll or stop; or count what the die shows."""
        if state.rolls:
            state.rolls = 0
            if action == 0:
                self.pass_on(state)
            else:
                state.total += 1 if self.piglet else action + 1
            return
        state.moves += 1
        if action == ROLL:
            state.rolls = 1
        else:
            state.scores[state.turn] += state.total
            state.is_over = state.scores[state.turn] >= self.winscore
            self.pass_on(state)
        if state.moves >= self.horizon:
            state.is_over = 1

    def pass_on(self, state: Any) -> None:
        """The next player's turn begins."""
        state.total = 0
        state.turn = (state.turn + 1) % self.players

    def returns(self, state: Any, returns: Any) -> None:
        """1 for the winner, and the others share the loss."""
        for winner in range(self.players):
            if state.scores[winner] >= self.winscore:
                for player in range(self.players):
                    returns[player] = 1.0 if player == winner else -1.0 / (self.players - 1)

    def draw(self, state: Any, stream: Any) -> int:
        """To roll or to stop; who has enough stops."""
        if state.scores[state.turn] + state.total >= self.winscore:
            return STOP
        return random_below(stream, 2)

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Roll, stop and throw the die, each number of it equally probable."""
        while state.is_over == 0:
            if state.rolls:
                shown = random_below(stream, self.diceoutcomes)
                self.play(state, min(shown, 1) if self.piglet else shown)
            else:
                if end == players.shape[0]:
                    return -1
                action = self.draw(state, stream)
                players[end] = state.turn
                actions[end] = action
                end += 1
                self.play(state, action)
        return end

    def action_to_string(self, player: int, action: int) -> str:
        """A word; of chance, what the die shows, or with ``piglet`` what it counts."""
        if player == CHANCE:
            return f"Roll {action if self.piglet else action + 1}"
        return "stop" if action == STOP else "roll"

    def string_of(self, state: Any) -> str:
        """The scores, the turn's total and whose turn it is."""
        rolls = " (rolling)" if state.rolls else ""
        scores = " ".join(map(str, state.scores))
        return f"Scores: {scores}, Turn total: {state.total}\nCurrent player: {state.turn}{rolls}\n"

    def observation(self, state: Any) -> Any:
        """One-hot: the turn's total, and each player's score, up to ``winscore``."""
        numbers = np.minimum([state.total, *state.scores], self.winscore)
        return np.eye(self.winscore + 1)[numbers]
