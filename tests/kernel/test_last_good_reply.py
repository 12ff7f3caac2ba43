"""Last good replies: whole trees against a plain version on the same random numbers."""

import pytest
from helpers.games import random_game
from helpers.streams import first_words
from helpers.textbook import Textbook
from helpers.trees import assert_close, check_tree, dump, dump_textbook

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import LastGoodReply, NodeAmaf

PLACES = 2**16


def hashed(player, *before):
    """The place that replies to the last moves share; the replies to one and two moves, too."""
    last, own_last = (*before, -2)[:2]
    return ((last + 2) * 7919 + (own_last + 2) * 104729 + player * 611953) % PLACES


class WithReplies(Textbook):
    """Playouts that answer with the last good replies, kept in a dictionary."""

    def __init__(self, config, state, *words):
        super().__init__(config.replace(playouts="uniform_playouts"), state, *words)
        self.policy_options, self.replies = config.playouts, {}

    def contexts(self, player, moves):
        """The places of the replies to the last two moves, then to the last one."""
        last = moves[-1][1] if moves else -1
        own_last = next((action for mover, action in reversed(moves) if mover == player), -1)
        one, two = hashed(player, last), hashed(player, last, own_last)
        return [two, one] if self.policy_options.context == 2 else [one]

    def play_out(self, state):
        path = [move for move in self.way if move[0] >= 0]
        moves = []
        while not state.is_terminal():
            player, legal = state.current_player(), state.legal_actions()
            replies = [self.replies.get(c) for c in self.contexts(player, path + moves)]
            drawn = self.playouts.random()
            known = [reply for reply in replies if reply in legal]
            action = known[0] if known else legal[int(drawn * len(legal))]
            moves.append((player, action))
            state.apply_action(action)
        return moves, state.returns()

    def observe(self, results):
        super().observe(results)
        path = [move for move in self.way if move[0] >= 0]
        for moves, returns in results:
            for number, (player, action) in enumerate(path + moves):
                value = self.mean(self.kept(returns[player]), 1)
                for context in reversed(self.contexts(player, (path + moves)[:number])):
                    if value > 0.5:
                        self.replies[context] = action
                    elif value < 0.5 and self.policy_options.forgetting:
                        self.forget(context, action)

    def forget(self, context, action):
        if self.replies.get(context) == action:
            del self.replies[context]


@pytest.mark.full(but=["6"])
@pytest.mark.parametrize("cases", [6, 60])
def test_whole_trees_equal_those_of_the_plain_version(cases):
    compared, played = 0, 0
    for seed in range(cases):
        # Without chance, which draws from the same stream, but in blocks.
        rules = {"num_players": 2 + seed % 2, "depth": 4 + seed % 7, "width": 4}
        state = random_game(seed, **rules)
        policy = LastGoodReply(context=1 + seed % 2, forgetting=seed % 4 < 2)
        config = SearchConfig(playouts=policy, amaf=NodeAmaf(), search_forced_moves=True)
        searcher = Searcher(config, seed=seed)
        searcher.search(state, Limit(simulations=150))
        book = WithReplies(config, state, *first_words(seed))
        book.search(150)
        check_tree(searcher)
        played += len(book.replies) > 3
        if book.near_ties == 0:
            compared += 1
            assert_close(dump(searcher), dump_textbook(book.root, scale=book.scaled_sum))
    assert compared > 0.5 * cases
    assert played > 0.5 * cases
