"""Argument checks by annotations: what is taken, in which type, and what messages say."""

import dataclasses
import enum
import inspect
import math
import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, Lt

from rave_agents.errors import GameError, UnknownNameError
from rave_agents.game.validation import Count, Positive, Seed, check_fields, checked, validated

Share = Annotated[float, Ge(0), Lt(1)]
Kind = Literal["fast", "exact"]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (Count, np.int64(3), 3),
        (int, 10**400, 10**400),
        (float, 3, 3.0),
        (float, np.float32(0.5), 0.5),
        (Annotated[float, Ge(0), Le(math.inf)], math.inf, math.inf),
        (Share, 0, 0.0),
        (bool, np.True_, True),
        (Seed, None, None),
        (Kind, "fast", "fast"),
        (Count | Literal["auto"] | None, "auto", "auto"),
        (Colour, "red", Colour.RED),
        (Colour, Colour.RED, Colour.RED),
        (type[Exception], GameError, GameError),
        (str | float, "60+1", "60+1"),
        (list[int], "anything", "anything"),
        (Any, 3, 3),
        (list[int] | None, 3, 3),
    ],
)
def test_a_value_that_fits_has_the_exact_type_of_its_annotation(annotation, given, taken):
    value = checked("x", annotation, given)
    assert value == taken
    assert type(value) is type(taken)


@pytest.mark.parametrize(
    ("annotation", "given", "error", "message"),
    [
        (Count, 0, ValueError, "x must be an integer of at least 1, got 0."),
        (Count, True, TypeError, "x must be an integer of at least 1, got True."),
        (Count, np.True_, TypeError, "x must be an integer of at least 1, got np.True_."),
        (Count, 1.0, TypeError, "x must be an integer of at least 1, got 1.0."),
        (Count, np.ones(2, int), TypeError, "x must be an integer of at least 1, got array"),
        (int, "1", TypeError, "x must be an integer, got '1'."),
        (Annotated[int, Ge(1), Le(1000)], 1001, ValueError, "from 1 to 1,000, got 1001."),
        (float, math.nan, ValueError, "x must be a finite number, got nan."),
        (float, math.inf, ValueError, "x must be a finite number, got inf."),
        (float, "0.5", TypeError, "x must be a finite number, got '0.5'."),
        (Positive, 10**400, ValueError, "x must be a finite number above 0, got 1000"),
        (Positive, 0, ValueError, "x must be a finite number above 0, got 0."),
        (Share, 1.0, ValueError, "x must be a number in [0, 1), got 1.0."),
        (Annotated[float, Gt(0), Le(0.5)], 0, ValueError, "x must be a number in (0, 0.5], got 0."),
        (bool, 1, TypeError, "x must be True or False, got 1."),
        (Seed, -1, ValueError, "x must be an integer of at least 0 or None, got -1."),
        (Kind, "fats", UnknownNameError, "got 'fats'. Did you mean 'fast'?"),
        (Kind, None, UnknownNameError, "x must be 'fast' or 'exact', got None."),
        (Literal[1, 2], True, UnknownNameError, "x must be 1 or 2, got True."),
        (
            Count | Literal["auto"] | None,
            "auo",
            UnknownNameError,
            "x must be an integer of at least 1, 'auto' or None, got 'auo'. Did you mean 'auto'?",
        ),
        (Count | Literal["auto"], 0, ValueError, "of at least 1 or 'auto', got 0."),
        (GameError | None, 3, TypeError, "x must be a rave_agents.GameError or None, got 3."),
        (
            Colour,
            "rad",
            UnknownNameError,
            "x must be 'red' or 'blue', got 'rad'. Did you mean 'red'",
        ),
        (type[GameError], ValueError, TypeError, "x must be a class of rave_agents.GameError, got"),
        (type[GameError], 3, TypeError, "x must be a class of rave_agents.GameError, got 3"),
        (Mapping[str, int], ["a"], TypeError, "x must be a dictionary, got ['a']."),
        (Callable[[int], int] | None, 3, TypeError, "x must be a function or None, got 3."),
        (str | os.PathLike[str], 3, TypeError, "x must be a text or a path, got 3."),
        (Count, "\x1b" * 900, TypeError, "got '\\x1b\\x1b"),
    ],
)
def test_another_value_is_refused(annotation, given, error, message):
    with pytest.raises(error) as caught:
        checked("x", annotation, given)
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_caller_may_name_another_exception():
    with pytest.raises(GameError, match="players must be an integer of at least 1, got '2'"):
        checked("players", Count, "2", GameError)


@validated
def play(game: Any, games: Count = 1, *others: Any, seed: Seed = None, **more: Any) -> Any:
    """Play."""
    return games, others, seed, more


@validated
def solve(position: Any, *, kind: Kind = "fast", share: Share = 2.0) -> Any:
    """Solve; the default of ``share`` is not checked."""
    return kind, share


def test_a_function_gets_checked_arguments():
    assert play("hex", np.int8(3), 1, 2, seed=np.int8(4), more=5) == (3, (1, 2), 4, {"more": 5})
    assert solve(0) == ("fast", 2.0)
    assert solve(position=0, share=0) == ("fast", 0.0)
    with pytest.raises(ValueError, match="games must be an integer of at least 1, got 0"):
        play("hex", 0)
    with pytest.raises(TypeError, match=r"seed must be .* or None, got 'x'"):
        play("hex", seed="x")


def test_a_wrong_name_or_place_is_answered_with_the_right_one():
    with pytest.raises(TypeError, match=r"argument of solve 'knd'\. Did you mean 'kind'"):
        solve(0, knd="fast")
    with pytest.raises(TypeError, match=r"such as solve\(position, kind='fast'\): got 'fast' by"):
        solve(0, "fast")


def test_a_function_keeps_its_signature_and_its_document():
    assert list(inspect.signature(solve).parameters) == ["position", "kind", "share"]
    assert solve.__doc__.startswith("Solve;")


@dataclasses.dataclass(frozen=True)
class Phase:
    seconds: Positive
    moves: Count = 1

    def __post_init__(self):
        check_fields(self)


def test_fields_of_a_dataclass_are_checked_and_get_exact_types():
    phase = Phase(np.float32(2), np.int8(3))
    assert (type(phase.seconds), type(phase.moves)) == (float, int)
    with pytest.raises(ValueError, match="moves must be an integer of at least 1, got 0"):
        Phase(1.0, 0)


def test_an_annotation_as_text_is_refused_where_it_would_check_nothing():
    def choose(count: "int") -> None:
        """Choose."""

    with pytest.raises(TypeError, match="'int' is text"):
        validated(choose)
