"""Last good reply with forgetting (LGRF; Drake 2009, Baier & Drake 2010).

Each player remembers, for the last move and for the last two moves, the reply that was played after
them in the last simulation that the player won. Playouts play this reply, the one to two moves
first, where it is legal; else they are uniformly random. A simulation that the player loses deletes
the replies that it used.

Replies lie in a hash table without chains: two contexts may share a place, and then the reply is
that of the last one written.
"""

from typing import Annotated, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import INT, Array, Kept, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel.declarations import taking_part
from rave_agents.kernel.move_policies import NO_ACTION, Move, learn_move, move_weight

PLACES = 2**16
"""Places of the hash table."""

REPLY_TO_ONE, REPLY_TO_TWO = 1e40, 1e80
"""Weights so large that the rest of the moves is never drawn."""


class LastGoodReply(NamedTuple):
    """Playouts answer moves with the reply that last won (LGRF)."""

    context: Annotated[int, Ge(1), Le(2)] = 2
    """The number of moves that a reply answers: 1, or 2 for replies to the last two moves before
    those to the last one."""
    forgetting: bool = True
    """True to delete the replies of a lost simulation (Baier & Drake 2010); False keeps them until
    others win (Drake 2009)."""


@implements(taking_part, LastGoodReply)
def _takes_part(policy: LastGoodReply) -> str:
    return "last good replies"


@runs_as(LastGoodReply)
class Replies(NamedTuple):
    """The replies of all players."""

    options: LastGoodReply
    replies: Annotated[Array, one(INT, PLACES, fill=NO_ACTION, kept=Kept.SEARCH)]
    """The reply in each place, or ``NO_ACTION``."""


@kernel
def place_of(player: int, last: int, before: int) -> int:
    """The place of a player's reply to the move ``last`` after the player's own move ``before``.

    ``before`` is -2 in replies to one move.
    """
    return ((last + 2) * 7919 + (before + 2) * 104729 + player * 611953) % PLACES


@implements(move_weight, Replies)
def reply_weight(replies: Replies, move: Move) -> float:
    """Practically infinite for a reply that is remembered, else 1 (Baier & Drake 2010)."""
    after_two = place_of(move.player, move.last, move.own_last)
    if replies.options.context == 2 and replies.replies[after_two] == move.action:
        return REPLY_TO_TWO
    if replies.replies[place_of(move.player, move.last, -2)] == move.action:
        return REPLY_TO_ONE
    return 1.0


@implements(learn_move, Replies)
def _learn_reply(replies: Replies, move: Move, value: float) -> None:
    note_reply(replies, place_of(move.player, move.last, -2), move.action, value)
    if replies.options.context == 2:
        place = place_of(move.player, move.last, move.own_last)
        note_reply(replies, place, move.action, value)


@kernel
def note_reply(replies: Replies, place: int, action: int, value: float) -> None:
    """Remember the reply of a won simulation; forget that of a lost one."""
    if value > 0.5:
        replies.replies[place] = action
    elif value < 0.5 and replies.options.forgetting and replies.replies[place] == action:
        replies.replies[place] = NO_ACTION
