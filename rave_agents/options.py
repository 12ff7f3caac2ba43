"""The named choices among the tunables of ``SearchConfig``."""

import enum


class Selection(enum.StrEnum):
    """What draws the search to edges that it knows little about."""

    UCB1 = "ucb1"
    """``c sqrt(ln N / n)``: by visits alone."""
    PUCT = "puct"
    """``c p sqrt(N) / (n + 1)``: by visits and prior probability."""
    UCB1_TUNED = "ucb1_tuned"
    """``c sqrt(ln N / n min(1/4, V))``, V a bound of the values' variance (Auer et al. 2002, with
    c = 1): by visits and by how much the values vary."""
    REGRET_MATCHING = "regret_matching"
    """Where players move at the same time: drawn in proportion to what each action would have
    brought beyond what was taken (Hart & Mas-Colell 2000; Lanctot et al. 2014). UCB1 elsewhere."""
    EXP3 = "exp3"
    """Where players move at the same time: drawn by exponential weights of estimated gains (Auer et
    al. 2003). UCB1 elsewhere."""


class Amaf(enum.StrEnum):
    """Where all-moves-as-first statistics are kept."""

    NONE = "none"
    """Nowhere: plain Monte-Carlo tree search."""
    NODE = "node"
    """At the edges of each node (RAVE)."""
    GRAVE = "grave"
    """In tables of all players' actions; the nearest table on the way from the root that has more
    than ``grave_ref`` playouts is used (GRAVE)."""
    GLOBAL = "global"
    """In one table of all players' actions for the whole search, new in each search (HRAVE)."""


class AmafPlayers(enum.StrEnum):
    """Whose choices in the tree heed AMAF statistics."""

    ALL = "all"
    """Those of all players."""
    OWN = "own"
    """Those of the searching player alone: what the others should have played says little of
    them."""


class RaveSchedule(enum.StrEnum):
    """How the weight β of AMAF falls as visits come in."""

    HAND_SELECTED = "hand_selected"
    """``sqrt(k / (3 n + k))``"""
    MINIMUM_MSE = "minimum_mse"
    """``ñ / (n + ñ + 4 n ñ b²)``"""
    FUEGO = "fuego"
    """``ñ / (n (1 / w_initial + ñ / w_final) + ñ)``"""
    PACHI = "pachi"
    """``ñ / (ñ + n + n ñ / equivalence)``"""
    GRAVE = "grave"
    """``ñ / (ñ + n + bias ñ n)``"""


class AmafWeighting(enum.StrEnum):
    """What an AMAF update counts, by how many moves after the node the action is played."""

    UNIFORM = "uniform"
    """1."""
    LINEAR = "linear"
    """From ``amaf_weight_first`` at the node, in a line to ``amaf_weight_last`` at the game's end
    (Fuego documents 2 to 0, and computes 2 to 1)."""
    STEPPED = "stepped"
    """3, 2 or 1, by thirds of the simulated game (Pachi)."""


class RaveBlend(enum.StrEnum):
    """What β blends the AMAF value with."""

    VALUE = "value"
    """The mean value; the exploration term is added to the blend (Gelly & Silver 2011)."""
    UCB = "ucb"
    """The mean value and its exploration term together."""


class ProofNumbers(enum.StrEnum):
    """Whose proof numbers guide the search."""

    NONE = "none"
    """Nobody's: none are kept."""
    SEARCHER = "searcher"
    """The searching player's: he turns to what is nearest to proving his win, the others to what is
    nearest to disproving it (Kowalski et al. 2023)."""
    EVERY_PLAYER = "every_player"
    """Each player's own where he moves, for any number of players (Kowalski et al. 2025)."""


class ProofBonus(enum.StrEnum):
    """What a move's proof number, among its siblings', is worth in [0, 1]."""

    RANK = "rank"
    """``1 - rank / siblings``; equal numbers share a rank, and leave the next ones out."""
    DENSE_RANK = "dense_rank"
    """``1 - rank / highest rank``; ranks are counted without gaps."""
    MAX = "max"
    """``1 - (number - least) / (1 + greatest - least)``, of the finite numbers."""


class Hidden(enum.StrEnum):
    """What a search does in games in which something is hidden from the player to move."""

    DETERMINIZE = "determinize"
    """Each simulation begins in another world that the player cannot tell from the true one, and
    the tree tells apart what he can (Cowling, Powley & Whitehouse 2012)."""
    SEE = "see"
    """It searches the true state, hidden cards included: it cheats."""


class FinalMove(enum.StrEnum):
    """How the root's action is chosen once the search has ended (Chaslot et al. 2008)."""

    ROBUST = "robust"
    """Most visits; among equals the best mean."""
    MAX = "max"
    """The best mean; among equals the most visits."""
    SECURE = "secure"
    """The best lower confidence bound ``q - A / sqrt(n)``."""
    MAXIMIN = "maximin"
    """Where players move at the same time, the best mean against the worst reply, see
    ``SearchConfig.maximin_visits``; elsewhere as ROBUST."""
    AVERAGE_STRATEGY = "average_strategy"
    """Drawn from the average of the strategies that regret matching or Exp3 has followed, their
    exploration left out; where a player moves alone, as ROBUST."""


class UtilityRange(enum.StrEnum):
    """What utilities are scaled to [0, 1] by."""

    GAME = "game"
    """The bounds that the game states; where it states none, as OBSERVED."""
    OBSERVED = "observed"
    """The least and the greatest return seen in this search, as they come in."""
