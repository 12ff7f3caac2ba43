"""A bot for each preset of ``SearchConfig``. ``SearchBot`` says what their parameters are."""

from rave_openspiel.bots import SearchBot


class UCTBot(SearchBot):
    """Plays plain UCT."""

    preset = "uct"


class PUCTBot(SearchBot):
    """Plays UCT with prior probabilities (PUCT), such as an evaluator's."""

    preset = "puct"


class GumbelBot(SearchBot):
    """Plays the survivor of sequential halving with Gumbel noise: few simulations, an evaluator."""

    preset = "gumbel"


class RaveBot(SearchBot):
    """Plays UCT with rapid action value estimation (RAVE)."""

    preset = "rave"


class UCTSolverBot(SearchBot):
    """Plays plain UCT that backs up exact outcomes, and ends a search once the root is solved."""

    preset = "uct_solver"


class BestFirstMinimaxBot(SearchBot):
    """Plays best-first minimax by an evaluator's values; with the solver."""

    preset = "best_first_minimax"


class PNMCTSBot(SearchBot):
    """Plays UCT with a solver and proof numbers (PN-MCTS)."""

    preset = "pn_mcts"


class PNMCTSFSUBot(SearchBot):
    """Plays PN-MCTS as it was published, with its parts F, S and U."""

    preset = "pn_mcts_fsu"


class AutoBot(SearchBot):
    """Plays a search for any game: AMAF, proofs, learned values, each as far as it fits."""

    preset = "auto"


class RavePNBot(SearchBot):
    """Plays RAVE with a solver and proof numbers."""

    preset = "rave_pn"


class GraveBot(SearchBot):
    """Plays generalised RAVE (GRAVE): AMAF values of the nearest well-visited ancestor."""

    preset = "grave"


class HRaveBot(SearchBot):
    """Plays HRAVE: the AMAF values of the root at every node."""

    preset = "hrave"


class RaveGlobalBot(SearchBot):
    """Plays RAVE with one table for the whole search, blended with whole UCB values."""

    preset = "rave_global"


class RaveWeightedBot(SearchBot):
    """Plays RAVE whose updates weigh less the later the move was played."""

    preset = "rave_weighted"


class RaveWinningMoveBot(SearchBot):
    """Plays RAVE biased to moves that are played early in won simulations."""

    preset = "rave_winning_move"


class RaveMaximinBot(SearchBot):
    """Plays simultaneous moves with RAVE for its own actions, then the best worst case."""

    preset = "rave_maximin"


class RegretMatchingBot(SearchBot):
    """Plays simultaneous moves by mixed strategies that regret matching finds."""

    preset = "regret_matching"


class Exp3Bot(SearchBot):
    """Plays simultaneous moves by mixed strategies that Exp3 finds."""

    preset = "exp3"
