"""A third program that checks the moves and the result of a game, using the Go Text Protocol."""

import math
import re

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.engines.client.gtp import GtpAgent, GtpError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState

_SCORE = re.compile(r"(?:([BW])\+.*|0|draw|jigo)", re.IGNORECASE)


class Referee:
    """A GTP program that follows a game.

    Args:
        spec: the program's spec, such as ``gtp(command="gnugo --mode gtp")``.
        game: the game.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in the protocol.
        TypeError, ValueError: if it is no ``gtp`` agent, or for a value that is not allowed.
        EngineFailedError: if the program cannot be started or refuses the game.
    """

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        self._program = referee_program(spec, game)
        self._program.restart()

    def refusal(self, action: int) -> str | None:
        """Send the next move to the program; returns the reason of a refusal, or None.

        Raises:
            EngineFailedError: if the program fails.
        """
        try:
            self._program.play(action)
        except GtpError as error:
            return str(error)
        return None

    def result(self, returns: list[float], state: GameState) -> tuple[list[float], str]:
        """The returns of a finished game by the program, and a remark if they differ.

        If the program does not know the result, it stays.

        Raises:
            EngineFailedError: if the program fails.
        """
        try:
            score = self._program.ask("final_score").strip()
        except GtpError:
            return returns, ""
        match = _SCORE.fullmatch(score)
        if match is None:
            return returns, ""
        # In the protocol black moves first: seat 0.
        winner = {"B": 1, "W": -1}.get((match[1] or "").upper(), 0)
        if winner == (returns[0] > returns[1]) - (returns[0] < returns[1]):
            return returns, ""
        remark = f"the referee says {score}, the rules give {returns[0]:g} and {returns[1]:g}"
        if winner == 0:
            middle = sum(returns) / 2
            return [middle, middle], remark
        return decided_returns(state, 1 if winner > 0 else 0), remark

    def close(self) -> None:
        """End the game; the program waits for the next one."""
        self._program.close()


def referee_program(spec: AgentSpec, game: Game) -> GtpAgent:
    """Return the program of a referee's spec; it is not started yet.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in the protocol.
        TypeError, ValueError: if it is no ``gtp`` agent, or for a value that is not allowed.
    """
    if spec.name != "gtp":
        raise ValueError(f"A referee is a GTP program, such as gtp(command=...): got {spec}.")
    return GtpAgent(game, 0, **spec.parameters)


def decided_returns(state: GameState, loser: int) -> list[float]:
    """The players' returns if one of them loses outside the rules."""
    low, high = float(state.min_utility()), float(state.max_utility())
    # Games without bounds: any difference makes one the winner.
    low, high = (low if math.isfinite(low) else -1.0), (high if math.isfinite(high) else 1.0)
    return [low if player == loser else high for player in range(state.num_players())]
