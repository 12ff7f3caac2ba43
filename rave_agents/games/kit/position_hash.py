"""Hash of a position of compiled rules: 128 bits of the words of its record that tell it.

Two chains of multiplications and shifts run over the same words, each a bijection of its state for
a given word and of the word for a given state. Records that differ in one word alone never share a
hash; others do with a probability of about 2**-128.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel

FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
"""Odd factors with mixed bits, of the two chains."""

BEGIN_FIRST, BEGIN_SECOND = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
"""States in which the chains begin."""

SHIFT_FIRST, SHIFT_SECOND = np.uint64(32), np.uint64(29)
NOTHING = np.uint64(0)


@kernel
def mixed_first(state: Any, word: Any) -> Any:
    """The first chain, one word further."""
    state = (state ^ word) * FIRST
    return state ^ (state >> SHIFT_FIRST)


@kernel
def mixed_second(state: Any, word: Any) -> Any:
    """The second chain, one word further."""
    state = (state + word) * SECOND
    return state ^ (state >> SHIFT_SECOND)


@kernel
def hash_record(rules: Any, words: Any, place: int, keys: Any, at: int) -> None:
    """Write the hash of a record to two places of ``keys``.

    Args:
        rules: the rules.
        words: the memory of several records as unsigned words.
        place: which record.
        keys: where the hash goes.
        at: the first of the two places.
    """
    begin = place * (rules.record_bytes >> 3)
    first, second = BEGIN_FIRST, BEGIN_SECOND
    for index in range(rules.key_words.shape[0]):
        word = words[begin + rules.key_words[index]] & rules.key_masks[index]
        first, second = mixed_first(first, word), mixed_second(second, word)
    for index in range(rules.key_lists.shape[0]):
        start = begin + rules.key_lists[index, 0]
        sum_first, sum_second = NOTHING, NOTHING
        for entry in range(np.int64(words[begin + rules.key_lists[index, 1]])):
            word = words[start + entry]
            sum_first += mixed_first(BEGIN_FIRST, word)
            sum_second += mixed_second(BEGIN_SECOND, word)
        first, second = mixed_first(first, sum_first), mixed_second(second, sum_second)
    keys[at] = mixed_first(first, second)
    keys[at + 1] = mixed_second(second, first)
