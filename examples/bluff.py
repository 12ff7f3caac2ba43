"""The smallest bluff: a game of eleven nodes on which determinization goes wrong.

Both players ante one chip, and chance deals the first player a strong or a weak hand, which the
second player does not see. The first player shows the hand, or bets one more chip; the second
player then folds or calls. A strong hand wins what is in the pot, a weak one loses it.

python examples/bluff.py [SIMULATIONS,...]

It prints what agents do at the three information sets, and how exploitable that is.
"""

import sys
from typing import Any

import pyspiel

from rave_agents.analysis.exploitability import exploitability

STRONG, WEAK = 0, 1
"""Outcomes of the deal."""

SHOW, BET = 0, 1
"""Actions of the first player."""

FOLD, CALL = 0, 1
"""Actions of the second player."""

AGENTS = ["uct", "auto", "ismcts(final_policy=visits)", "mccfr"]


class BluffState(pyspiel.State):
    """A position, given by the moves so far."""

    def __init__(self, game: pyspiel.Game) -> None:
        super().__init__(game)
        self.moves: list[int] = []

    def current_player(self) -> int:
        """Chance, then the first player, and after a bet the second."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return (int(pyspiel.PlayerId.CHANCE), 0, 1)[len(self.moves)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """A strong and a weak hand are equally likely."""
        return [(STRONG, 0.5), (WEAK, 0.5)]

    def _legal_actions(self, player: int) -> list[int]:
        return [0, 1]

    def _apply_action(self, action: int) -> None:
        self.moves.append(action)

    def _action_to_string(self, player: int, action: int) -> str:
        names = {-1: ("strong", "weak"), 0: ("show", "bet"), 1: ("fold", "call")}
        return names[player][action]

    def is_terminal(self) -> bool:
        """The game ends when the hand is shown, or the bet is answered."""
        return self.moves[1:] == [SHOW] or len(self.moves) == 3

    def returns(self) -> list[float]:
        """Chips won: the ante, and after a call the bet, too."""
        if not self.is_terminal():
            return [0.0, 0.0]
        stake = 2.0 if self.moves[-1] == CALL and len(self.moves) == 3 else 1.0
        has_folded = self.moves[1:] == [BET, FOLD]
        won = stake if self.moves[0] == STRONG or has_folded else -stake
        return [won, -won]

    def information_state_string(self, player: int | None = None) -> str:
        """The first player's hand, or the public moves alone."""
        seat = self.current_player() if player is None else player
        seen = self.moves if seat == 0 else self.moves[1:]
        return f"player {seat}: {seen}"

    def __str__(self) -> str:
        return str(self.moves)


_TYPE = pyspiel.GameType(
    short_name="bluff",
    long_name="The smallest bluff",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={},
)
_INFO = pyspiel.GameInfo(
    num_distinct_actions=2,
    max_chance_outcomes=2,
    num_players=2,
    min_utility=-2.0,
    max_utility=2.0,
    utility_sum=0.0,
    max_game_length=2,
)


class Bluff(pyspiel.Game):
    """The game."""

    def __init__(self, params: Any = None) -> None:
        super().__init__(_TYPE, _INFO, params or {})

    def new_initial_state(self) -> BluffState:
        """Return the position before the deal."""
        return BluffState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> None:
        """Return no observer: the text of an information state is all that players see."""


pyspiel.register_game(_TYPE, Bluff)


class Equilibrium:
    """The only equilibrium: bet with a strong hand, bluff one time in three, call two in three."""

    def action_probabilities(self, state: pyspiel.State) -> dict[int, float]:
        """The probability of each action at a position."""
        if state.current_player() == 1:
            return {FOLD: 1 / 3, CALL: 2 / 3}
        return {SHOW: 0.0, BET: 1.0} if state.moves[0] == STRONG else {SHOW: 2 / 3, BET: 1 / 3}


def main() -> None:
    """Print the table."""
    simulations = [int(word) for word in "".join(sys.argv[1:2] or ["100,1000"]).split(",")]
    agents = {"equilibrium": Equilibrium(), **{each.partition("(")[0]: each for each in AGENTS}}
    result = exploitability("bluff", agents, simulations=simulations, seeds=3, jobs=1)
    print(f"{'agent':>26}  bets strong  bets weak  calls  exploitability")
    for row, records in zip(result.rows, result.records, strict=True):
        # In the order in which a walk through the game meets the three sets.
        bets, calls, bluffs = (
            sum(each.probabilities[1] for each in records[place::3]) / row.seeds
            for place in range(3)
        )
        print(f"{row.agent:>26}  {bets:11.2f}  {bluffs:9.2f}  {calls:5.2f}  {row.mixture:z14.3f}")


if __name__ == "__main__":
    main()
