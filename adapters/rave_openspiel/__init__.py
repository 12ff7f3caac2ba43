"""Search agents for OpenSpiel.

Bots, for every place that takes a ``pyspiel.Bot`` (``evaluate_bots`` in Python and C++, and scripts
that walk the tree of ``mcts_search``)::

    import pyspiel
    from rave_openspiel import RaveBot, UCTBot

    game = pyspiel.load_game("hex(board_size=7)")
    bots = [RaveBot(game, simulations=2000), UCTBot(game, seconds=0.5)]
    pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)
    print(bots[0].last_result)

``MCTSBot`` takes the place of OpenSpiel's Python ``mcts.MCTSBot`` and ``CppMCTSBot`` that of
``pyspiel.MCTSBot``, with their arguments; see ``rave_openspiel.mcts``.

``AutoBot`` is for any game: it uses AMAF, proofs and learned values where each fits. There is a
bot for every named agent that searches: ``GraveBot``, ``HRaveBot``, ``RaveGlobalBot``,
``RaveWeightedBot`` and ``RaveWinningMoveBot`` play the other forms of RAVE; ``UCTSolverBot``,
``PNMCTSBot``, ``PNMCTSFSUBot`` and ``RavePNBot`` prove what can be proven;
``BestFirstMinimaxBot`` plays by an evaluator's values; ``RaveMaximinBot``, ``RegretMatchingBot``
and ``Exp3Bot`` are for simultaneous moves, ``MCCFRBot`` for hidden information.

``register_bots()`` registers them with OpenSpiel under the names of their presets, which takes a
C++ compiler once: ``pyspiel.load_bot("rave", game, 0, {"simulations": 1000, "seed": 1})``.
``load_bot``, ``registered_bots`` and ``bots_that_can_play_game`` are OpenSpiel's functions with
this package's bots added, and need neither.

Importing this package registers games that OpenSpiel lacks, such as
``pyspiel.load_game("nogo(board_size=9)")``: NoGo, Atari Go, Knightthrough and Domineering, Python
games that the bots simulate by compiled code;
``register_rules`` does so with any other ``rave_agents.games.Rules``. Games of OpenSpiel's own that
``rave_agents.games`` has are searched on its compiled rules; ``RAVE_AGENTS_GAMES=openspiel``
switches that off.

``SearchPolicy`` shows a bot as an ``open_spiel.python.policy.Policy``, and ``SearchRLAgent`` plays
in ``rl_environment.Environment(..., include_full_state=True)``. ``RaveEvaluator`` gives the Python
``mcts.MCTSBot`` priors from AMAF statistics, ``PNEvaluator`` priors and exact outcomes from a small
search with proof numbers at each leaf. ``OpenSpielGame`` and ``OpenSpielState`` wrap OpenSpiel's
games and states in the interface that ``rave_agents.Searcher`` takes. The search plays sequential
games with perfect information and no hidden chance; ``refusal`` returns the reason why it cannot
play another game.
"""

import importlib
from typing import TYPE_CHECKING, Any

from rave_openspiel.adapter import OpenSpielGame
from rave_openspiel.added_games import register_games
from rave_openspiel.bots import SearchBot
from rave_openspiel.evaluator import RaveEvaluator
from rave_openspiel.load import bots_that_can_play_game, load_bot, registered_bots
from rave_openspiel.mcts import CppMCTSBot, MCTSBot
from rave_openspiel.named_bots import (
    AutoBot,
    BestFirstMinimaxBot,
    Exp3Bot,
    GraveBot,
    GumbelBot,
    HRaveBot,
    MCCFRBot,
    MCPSBot,
    PNMCTSBot,
    PNMCTSFSUBot,
    PUCTBot,
    RaveBot,
    RaveGlobalBot,
    RaveMaximinBot,
    RavePNBot,
    RaveWeightedBot,
    RaveWinningMoveBot,
    RegretMatchingBot,
    UCTBot,
    UCTSolverBot,
)
from rave_openspiel.proof_evaluator import PNEvaluator
from rave_openspiel.registry import register_bots
from rave_openspiel.rules_game import register_rules
from rave_openspiel.search_node import SearchNode
from rave_openspiel.states import OpenSpielState
from rave_openspiel.support import refusal

if TYPE_CHECKING:
    from rave_openspiel.policy import SearchPolicy
    from rave_openspiel.rl_agent import SearchRLAgent

__all__ = [
    "AutoBot",
    "BestFirstMinimaxBot",
    "CppMCTSBot",
    "Exp3Bot",
    "GraveBot",
    "GumbelBot",
    "HRaveBot",
    "MCCFRBot",
    "MCPSBot",
    "MCTSBot",
    "OpenSpielGame",
    "OpenSpielState",
    "PNEvaluator",
    "PNMCTSBot",
    "PNMCTSFSUBot",
    "PUCTBot",
    "RaveBot",
    "RaveEvaluator",
    "RaveGlobalBot",
    "RaveMaximinBot",
    "RavePNBot",
    "RaveWeightedBot",
    "RaveWinningMoveBot",
    "RegretMatchingBot",
    "SearchBot",
    "SearchNode",
    "SearchPolicy",
    "SearchRLAgent",
    "UCTBot",
    "UCTSolverBot",
    "bots_that_can_play_game",
    "load_bot",
    "refusal",
    "register_bots",
    "register_rules",
    "registered_bots",
]


def __dir__() -> list[str]:
    return sorted({"__doc__", *__all__})


def __getattr__(name: str) -> Any:
    """Public names that load more of OpenSpiel than a bot needs; imported on first use."""
    places = {"SearchPolicy": "policy", "SearchRLAgent": "rl_agent"}
    if name in places:
        return vars(importlib.import_module(f"{__name__}.{places[name]}"))[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# An import of the package must be enough for ``pyspiel.load_game("nogo")``.
register_games()
