"""The payoff matrix of two simultaneous movers, estimated by a search."""

import dataclasses
from typing import Any

from rave_agents.game.game_state import GameState, moving_players
from rave_agents.results.root import Root


@dataclasses.dataclass(frozen=True, kw_only=True)
class JointTable:
    """The root's joint actions: the searching player's in rows, the opponent's in columns.

    Values are expected returns of the searching player, in the game's utilities.
    """

    opponent: int
    """The opponent."""
    actions: tuple[int, ...]
    """The searching player's actions, in the game's order."""
    replies: tuple[int, ...]
    """The opponent's actions, in the game's order."""
    visits: tuple[tuple[int, ...], ...]
    """Simulations that took each action and reply."""
    values: tuple[tuple[float | None, ...], ...]
    """The mean return of these simulations; None without any."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        rows = {"visits": [*map(list, self.visits)], "values": [*map(list, self.values)]}
        lists = {"actions": list(self.actions), "replies": list(self.replies)}
        return {"opponent": self.opponent, **lists, **rows}


def joint_table(root: Root, state: GameState, player: int) -> JointTable | None:
    """The table of a root at which exactly two players move simultaneously, else None."""
    if not root.joint:
        return None
    players = moving_players(state)
    if len(players) != 2:
        return None
    own, other = (players.index(player), 1 - players.index(player))
    opponent = players[other]
    actions = tuple(move.action for move in root.moves)
    replies = tuple(int(reply) for reply in state.legal_actions(opponent))  # type: ignore[call-arg]
    known = {(row.actions[own], row.actions[other]): row for row in root.joint}
    cells = [[known.get((action, reply)) for reply in replies] for action in actions]
    return JointTable(
        opponent=opponent,
        actions=actions,
        replies=replies,
        visits=tuple(tuple(0 if row is None else row.visits for row in line) for line in cells),
        values=tuple(
            tuple(
                None if row is None else root.utility(row.value_sums[player], row.visits)
                for row in line
            )
            for line in cells
        ),
    )
