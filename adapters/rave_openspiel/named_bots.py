"""A bot for each preset of ``SearchConfig``. ``SearchBot`` says what their parameters are."""

from rave_openspiel.bots import SearchBot


class UCTBot(SearchBot):
    """Plays plain UCT.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.5``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(UCTBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "uct"


class PUCTBot(SearchBot):
    """Plays UCT with prior probabilities (PUCT), such as an evaluator's.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=1``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(PUCTBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "puct"


class GumbelBot(SearchBot):
    """Plays the survivor of sequential halving with Gumbel noise: few simulations, an evaluator.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``max_considered=16``: the root's actions that are considered at most, at least 1
    - ``c_scale=1``: the weight of values beside the logarithms of priors, at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(GumbelBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "gumbel"


class RaveBot(SearchBot):
    """Plays UCT with rapid action value estimation (RAVE).

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RaveBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave"


class UCTSolverBot(SearchBot):
    """Plays plain UCT that backs up exact outcomes, and ends a search once the root is solved.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.5``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(UCTSolverBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "uct_solver"


class BestFirstMinimaxBot(SearchBot):
    """Plays best-first minimax by an evaluator's values; with the solver.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.05``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(BestFirstMinimaxBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "best_first_minimax"


class PNMCTSBot(SearchBot):
    """Plays UCT with a solver and proof numbers (PN-MCTS).

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.35``: the weight of exploration for values in [0, 1], at least 0
    - ``constant=0.2``: the weight of the proof numbers' bonus in the score, at least 0
    - ``contempt=0.35``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(PNMCTSBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "pn_mcts"


class PNMCTSFSUBot(SearchBot):
    """Plays PN-MCTS as it was published, with its parts F, S and U.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=1.414``: the weight of exploration for values in [0, 1], at least 0
    - ``constant=1``: the weight of the proof numbers' bonus in the score, at least 0
    - ``contempt=0``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(PNMCTSFSUBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "pn_mcts_fsu"


class AutoBot(SearchBot):
    """Plays a search for any game: AMAF, proofs, learned values, each as far as it fits.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.35``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``constant=0.2``: the weight of the proof numbers' bonus in the score, at least 0
    - ``contempt=0.35``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(AutoBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "auto"


class RavePNBot(SearchBot):
    """Plays RAVE with a solver and proof numbers.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``constant=0.2``: the weight of the proof numbers' bonus in the score, at least 0
    - ``contempt=0.35``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RavePNBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave_pn"


class GraveBot(SearchBot):
    """Plays generalised RAVE (GRAVE): AMAF values of the nearest well-visited ancestor.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``ref=20``: playouts that an ancestor's AMAF values need to be used, at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(GraveBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "grave"


class HRaveBot(SearchBot):
    """Plays HRAVE: the AMAF values of the root at every node.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(HRaveBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "hrave"


class RaveGlobalBot(SearchBot):
    """Plays RAVE with one table for the whole search, blended with whole UCB values.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=1.414``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="hand_selected"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``k=500``: visits at which values and AMAF values weigh alike, above 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RaveGlobalBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave_global"


class RaveWeightedBot(SearchBot):
    """Plays RAVE whose updates weigh less the later the move was played.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``last=1``: the weight in AMAF values of a move at the end; one at the node itself has 2
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RaveWeightedBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave_weighted"


class RaveWinningMoveBot(SearchBot):
    """Plays RAVE biased to moves that are played early in won simulations.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="minimum_mse"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``bias=0.035``: the mean error of AMAF values on the scale [0, 1]: the larger, the sooner
      their weight falls
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RaveWinningMoveBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave_winning_move"


class RaveMaximinBot(SearchBot):
    """Plays simultaneous moves with RAVE for its own actions, then the best worst case.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=1.414``: the weight of exploration for values in [0, 1], at least 0
    - ``schedule="hand_selected"``: the weight of AMAF values, which falls as visits come in; or
      ``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``
    - ``k=500``: visits at which values and AMAF values weigh alike, above 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RaveMaximinBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "rave_maximin"


class RegretMatchingBot(SearchBot):
    """Plays simultaneous moves by mixed strategies that regret matching finds.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.5``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``gamma=0.3``: the share of choices that are uniformly random, in [0, 1]
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(RegretMatchingBot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "regret_matching"


class Exp3Bot(SearchBot):
    """Plays simultaneous moves by mixed strategies that Exp3 finds.

    The parameters that matter most, with their defaults:

    - ``simulations=None``: simulations for each move, at least 1; 1,000 where there is no limit
    - ``seconds=None``: wall-clock seconds for each move, above 0
    - ``clock=None``: the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1
      s more with each move
    - ``evaluator=None``: what evaluates positions in place of random playouts
    - ``seed=None``: decides everything random, at least 0; None for one that the system draws
    - ``threads=1``: threads that search at the same time, from 1
    - ``c=0.5``: the weight of exploration for values in [0, 1], at least 0
    - ``contempt=0.5``: the mean value in [0, 1] below which a sure draw is played
    - ``gamma=0.3``: the share of choices that are uniformly random, in [0, 1]
    - ``temperature=0``: 0 plays the best move; at 1 moves are drawn by their visits

    ``inspect.signature(Exp3Bot)`` lists all; ``SearchBot`` explains those of the agent,
    ``rave_agents.SearchConfig`` those of its search.
    """

    preset = "exp3"
