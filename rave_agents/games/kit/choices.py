"""Moves of playouts that the search's policy chooses, and what it is told of them."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.layout import call_address
from rave_agents.games.kit.base_rules import TERMINAL, BaseRules
from rave_agents.games.kit.memory import PLAYOUT, REPLY, TRIAL, clear, copy_state
from rave_agents.games.kit.refusals import NO_CHOICE, refuse
from rave_agents.simulate.frame import LOSES, WINS, Header

# Compiled code takes plain numbers as constants.
CHOOSE = int(Header.CHOOSE)
CHOOSE_RECORD = int(Header.CHOOSE_RECORD)
LOOKAHEAD = int(Header.LOOKAHEAD)
CHOICE_PLAYER = int(Header.CHOICE_PLAYER)
NUM_CHOICES = int(Header.NUM_CHOICES)
PLAYOUT_END = int(Header.PLAYOUT_END)
CHOSEN = int(Header.CHOSEN)


def chosen_place(rules: Any, actions: Any, count: int, player: int, frame: Any, end: int) -> int:
    """The place of one of the actions, chosen by the policy; below 0 if it has failed."""
    header, choices = frame.header, frame.choices
    for place in range(count):
        choices[0, place] = actions[place]
        choices[1, place] = 0
        if header[LOOKAHEAD] > 0:
            copy_state(frame.states, PLAYOUT, TRIAL)
            if wins(rules, frame, TRIAL, np.int64(actions[place]), player):
                choices[1, place] = WINS
    header[CHOICE_PLAYER], header[NUM_CHOICES], header[PLAYOUT_END] = player, count, end
    while True:
        header[CHOSEN] = 0
        call_address(header[CHOOSE], header[CHOOSE_RECORD])
        place = header[CHOSEN] - 1
        if not 0 <= place < count:
            return refuse(frame, NO_CHOICE, 0)
        if header[LOOKAHEAD] < 2 or choices[1, place] != 0:
            return int(place)
        if not loses(rules, frame, np.int64(choices[0, place]), player):
            return int(place)
        choices[1, place] = LOSES


@kernel
def wins(rules: Any, frame: Any, record: int, action: Any, player: int) -> bool:
    """Play a move in a record; True if it ends the game with most for its player."""
    state = frame.states[record]
    rules.play(state, action)
    players = frame.scratch.shape[0]
    if rules.player(state) != TERMINAL or players == 1:
        return False
    clear(frame.scratch)
    rules.returns(state, frame.scratch)
    for other in range(players):
        if other != player and not frame.scratch[player] > frame.scratch[other]:
            return False
    return True


@kernel
def loses(rules: Any, frame: Any, action: Any, player: int) -> bool:
    """True if another player can win at once after a move."""
    copy_state(frame.states, PLAYOUT, TRIAL)
    rules.play(frame.states[TRIAL], action)
    other = rules.player(frame.states[TRIAL])
    if not 0 <= other < rules.num_players or other == player:
        return False
    count = rules.legal_actions(frame.states[TRIAL], frame.replies)
    for place in range(min(count, rules.max_actions)):
        copy_state(frame.states, TRIAL, REPLY)
        if wins(rules, frame, REPLY, np.int64(frame.replies[place]), other):
            return True
    return False


def chosen_rules(rules: BaseRules) -> BaseRules:
    """The same game where a policy of the search chooses each move of a playout.

    It is kept with the rules, whose machine code it does not share, as long as they stay the same.
    """
    own = {name: item for name, item in vars(rules).items() if name[0] != "_"}
    made: BaseRules | None = vars(rules).get(_CHOSEN)
    if made is None or any(vars(made).get(name) is not item for name, item in own.items()):
        made = object.__new__(type(rules))
        vars(made).update(own)
        made.is_chosen = True
        vars(rules)[_CHOSEN] = made
    return made


_CHOSEN = "_chosen_rules"
