"""A bot for each preset of ``SearchConfig``; see ``SearchBot`` for their parameters."""

from rave_openspiel.bots import SearchBot


class UCTBot(SearchBot, preset="uct"):
    """Plays plain UCT."""


class PUCTBot(SearchBot, preset="puct"):
    """Plays UCT with prior probabilities (PUCT), such as an evaluator's."""


class GumbelBot(SearchBot, preset="gumbel"):
    """Plays the survivor of sequential halving with Gumbel noise: few simulations, an evaluator."""


class RaveBot(SearchBot, preset="rave"):
    """Plays UCT with rapid action value estimation (RAVE)."""


class UCTSolverBot(SearchBot, preset="uct_solver"):
    """Plays plain UCT that backs up exact outcomes, and ends a search once the root is solved."""


class BestFirstMinimaxBot(SearchBot, preset="best_first_minimax"):
    """Plays best-first minimax by an evaluator's values; with the solver."""


class PNMCTSBot(SearchBot, preset="pn_mcts"):
    """Plays UCT with a solver and proof numbers (PN-MCTS)."""


class PNMCTSFSUBot(SearchBot, preset="pn_mcts_fsu"):
    """Plays PN-MCTS as it was published, with its parts F, S and U."""


class AutoBot(SearchBot, preset="auto"):
    """Plays a search for any game: AMAF, proofs, learned values, each where it fits."""


class RavePNBot(SearchBot, preset="rave_pn"):
    """Plays RAVE with a solver and proof numbers."""


class GraveBot(SearchBot, preset="grave"):
    """Plays generalised RAVE (GRAVE): AMAF values of the nearest well-visited ancestor."""


class MCPSBot(SearchBot, preset="mcps"):
    """Plays Monte Carlo Permutation Search: GRAVE with statistics of permuted paths."""


class HRaveBot(SearchBot, preset="hrave"):
    """Plays HRAVE: the AMAF values of the root at every node."""


class RaveGlobalBot(SearchBot, preset="rave_global"):
    """Plays RAVE with one table for the whole search, blended with whole UCB values."""


class RaveWeightedBot(SearchBot, preset="rave_weighted"):
    """Plays RAVE whose updates weigh less the later the move was played."""


class RaveWinningMoveBot(SearchBot, preset="rave_winning_move"):
    """Plays RAVE biased to moves that are played early in won simulations."""


class RaveMaximinBot(SearchBot, preset="rave_maximin"):
    """Plays simultaneous moves with RAVE for its own actions, then the best worst case."""


class RegretMatchingBot(SearchBot, preset="regret_matching"):
    """Plays simultaneous moves by mixed strategies that regret matching finds."""


class Exp3Bot(SearchBot, preset="exp3"):
    """Plays simultaneous moves by mixed strategies that Exp3 finds."""


class MCCFRBot(SearchBot, preset="mccfr"):
    """Plays the average strategy of Monte-Carlo CFR from the start of the game."""
