"""``simulate`` that tells the keys of leaves as well: for searches that share positions.

It has machine code of its own, so that other searches neither compile nor run this.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit import playing
from rave_agents.games.kit.base_rules import TERMINAL
from rave_agents.games.kit.memory import LEAF, RECORDS, array_at
from rave_agents.games.kit.playing import EXPAND, LEAF_PLAYER, PROVIDER, STEP
from rave_agents.games.kit.position_hash import hash_record
from rave_agents.simulate.frame import HEADER_LENGTH, Header, Step

# Compiled code takes plain numbers as constants.
KEY_TOLD, FIRST_KEY = int(Header.KEY_TOLD), int(Header.FIRST_KEY)
WHOLE = int(Step.WHOLE)

simulate_at = kernel(playing.entry)
"""``simulate`` by addresses alone."""


@kernel
def tell_key(rules: Any, words: Any, header: Any, keys: Any) -> None:
    """Write the key of a leaf that has been listed.

    Args:
        rules: the rules.
        words: the memory of the records as unsigned words.
        header: the frame's header.
        keys: the same as unsigned words.
    """
    if header[STEP] == WHOLE and header[EXPAND] != 0 and header[LEAF_PLAYER] != TERMINAL:
        leaf: Any = np.int64(LEAF)
        hash_record(rules, words, leaf, keys, FIRST_KEY)
        header[KEY_TOLD] = 1


def entry(rules: Any, address: int) -> int:
    """``simulate`` and the leaf's key, as the loop calls it."""
    status = simulate_at(rules, address)
    header = array_at(address, HEADER_LENGTH, np.int64)
    keys = array_at(address, HEADER_LENGTH, np.uint64)
    words = array_at(header[PROVIDER], RECORDS * (rules.record_bytes >> 3), np.uint64)
    tell_key(rules, words, header, keys)
    return status
