"""A search bot as an OpenSpiel policy."""

import pyspiel
from open_spiel.python import policy

from rave_agents.game.validation import validated
from rave_agents.searcher.searcher import Searcher
from rave_openspiel.bots import SearchBot
from rave_openspiel.states import OpenSpielState


class SearchPolicy(policy.Policy):  # type: ignore[misc]
    """The policy of a search bot as an ``open_spiel.python.policy.Policy``.

    Each state is searched from scratch with the bot's configuration, limit and seed; with regrets
    of information sets (``mccfr``), one search from the start of the game answers for all. A state
    always gets the same probabilities if the limit is ``simulations`` and the evaluator draws no
    random numbers. The bot's own game is not touched.

    Args:
        bot: the bot. Its ``final_move`` and ``temperature`` shape the probabilities: at temperature
            0 the best action has probability 1, unless ``final_move=visit_shares`` draws, as
            ``auto`` does where something is hidden; at 1 probabilities are proportional to visits.

    Raises:
        TypeError: if ``bot`` is not a ``SearchBot``.

    """

    @validated
    def __init__(self, bot: SearchBot) -> None:
        players = range(bot.game.num_players()) if bot.player_id is None else [bot.player_id]
        super().__init__(bot.game, list(players))
        self._bot = bot
        self._searched: Searcher | None = None

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """Return the probability of every legal action.

        Args:
            state: a state of the bot's game where a player is to move.
            player_id: that player, or None.

        Raises:
            TypeError, ValueError: if ``state`` is not such a state, or ``player_id`` is not to move
                there.

        """
        mover = self._bot.check_decision(state)
        if player_id is not None and player_id != mover:
            raise ValueError(
                f"Player {player_id} is not to move at this state, or not this bot's: {mover} is."
            )
        bot, result = self._bot, None
        root = OpenSpielState(state, bot.worlds)
        if self._searched is not None:
            result = self._searched.known(root, player=mover)
        if result is None:
            # A new one each time: a policy must not depend on the states asked about before.
            self._searched = Searcher(bot.config, seed=bot.seed, evaluator=bot.evaluator)
            result = self._searched.search(root, bot.limit, player=mover)
        return dict(result.policy)
