"""A learned value of positions: a linear function of features, through the logistic function.

``LinearValue`` is what ``rave-agents learn`` writes to a file. On compiled rules with a board its
features are the contents of tuples of cells, such as two rows of three: an n-tuple network (Bledsoe
& Browning 1959; Lucas 2008 for Othello), see ``tuple_network.py``. In other games they are the
entries of the observation of the player to move.
"""

import hashlib
import math
import operator
import os
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.learned_file import (
    MOST_LETTERS,
    Arrays,
    FileMatch,
    LearnedFile,
    description_in,
    number_in,
    read_learned,
    text_in,
)
from rave_agents.evaluators.tuple_network import TupleNetwork, judged_rules
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import PlayerId, compiled_form
from rave_agents.game.validation import checked
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.values import JudgedRules

MOST_NAMED = 900
"""Letters of a longer game's name that are kept, before its hash."""

FORMAT = 2
"""The version of the file format."""

MEAN, MINIMAX = "mean_backup", "minimax_backup"
"""The backups of ``auto`` with a value, as specs name them."""


class LinearValue(LearnedFile):
    """A learned value function; ``evaluator=`` takes it or its file.

    Args:
        game: the game that it was learned on, as text, with its parameters; it fits that game
            alone. For a board it is the text of the rules, else that of ``game_text``.
        weights: [rows, outputs, features + 1], the bias last. There is a row for each player to
            move, or one that players share. One output is player 0's share of the utilities in a
            game for two with a constant sum, or that of the player to move if players share the
            row; else there is an output for each player.
        utilities: the least and the greatest utility.
        utility_sum: the sum of two players' utilities; None if it varies, or for other numbers of
            players.
        network: the tuples of a board; None for a value of observations.
        players: the number of players.
        made: a line on how it was learned.
        backup: the backup of ``auto`` with this value, ``"mean_backup"`` or ``"minimax_backup"``,
            see ``rave_agents.learning.to_file.choose_backup``.
        other_sizes: True if the value was measured to help on boards of other sizes, with averages,
            see ``other_sizes.py``.
        learned_on: the game that it was learned on if that has a board of another size; else None.
        match: the match of ``auto`` with it against ``auto`` without; None if it was not measured.
    """

    kind = "value"

    def __init__(
        self,
        game: str,
        weights: NDArray[np.float32],
        *,
        utilities: tuple[float, float],
        utility_sum: float | None,
        network: TupleNetwork | None = None,
        players: int | None = None,
        made: str = "",
        backup: str = MEAN,
        other_sizes: bool = False,
        learned_on: str | None = None,
        match: FileMatch | None = None,
    ) -> None:
        super().__init__(game, made, match)
        self.weights: NDArray[np.float32] = np.ascontiguousarray(weights, np.float32)
        self.utilities = utilities
        self.utility_sum = utility_sum
        self.network = network
        self.backup = backup
        self.other_sizes = other_sizes
        self.learned_on = learned_on
        self.players: int = len(self.weights) if players is None else players
        """The number of players."""
        # The game and the rules that were found to fit last: a search asks for each position.
        self._known: Hashable = None
        self._known_rules: BaseRules | None = None
        checked("backup", Literal[MEAN, MINIMAX], backup)
        checked("other_sizes", bool, other_sizes)
        _check_utilities(utilities, utility_sum)
        _check_weights(self.weights, self.players, network, constant_sum=utility_sum is not None)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": None, "_known_rules": None}

    def arrays(self) -> dict[str, Any]:
        """The content of its file; weights in half precision if that is exact."""
        half = self.weights.astype(np.float16)
        exact = np.array_equal(half.astype(np.float32), self.weights)
        found: dict[str, Any] = {
            "format": FORMAT,
            **self.description(),
            "weights": half if exact else self.weights,
            "utilities": self.utilities,
            "utility_sum": np.nan if self.utility_sum is None else self.utility_sum,
            "players": self.players,
            "backup": self.backup,
            "other_sizes": int(self.other_sizes),
        }
        if self.network is not None:
            arrays = operator.attrgetter(*_NETWORK_ARRAYS)(self.network)
            found |= dict(zip(_NETWORK_ARRAYS, arrays, strict=True))
            found["board"] = self.network.board
        return found

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "LinearValue":
        """Read its file.

        Raises:
            OSError: if there is no such file.
            ValueError: if it is not a learned value.
        """
        return read_learned(path, "learned value", lambda arrays: cls(**_arguments(arrays)))

    def __call__(self, state: Any) -> list[float]:
        """Every player's expected return in a state in which a player is to move.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        found = as_game_state(state)
        self._check_game(found)
        player = int(found.current_player())
        # With simultaneous moves the value is the same for whoever asks.
        player = 0 if player == PlayerId.SIMULTANEOUS else player
        if self.network is None:
            observation = StateAbilities(found).observation
            if observation is None:
                raise UnsupportedGameError("A learned value needs a game that shows observations.")
            features = np.append(
                np.asarray(observation(player), np.float32).ravel(), np.float32(1.0)
            )
            if len(features) != self.weights.shape[2]:
                raise self.refusal(game_text(found))
            return self._utilities(self.weights[player] @ features, found.num_players())
        on_rules: Any = compiled_form(found)
        if on_rules is None:
            raise self.refusal(game_text(found))
        self.check_rules(on_rules.rules)
        cells = np.zeros(on_rules.rules.num_board_cells, np.int8)
        on_rules.rules.describe_board(on_rules.record, cells)
        places = self.network.places(player, cells[None])[0]
        row = self.weights[0 if self.network.shared else player]
        logits = row[:, places].sum(axis=1) + row[:, -1]
        # Shared weights give the value of the player to move; -logit is that of the other one.
        swapped = self.network.shared and player == 1
        return self._utilities(-logits if swapped else logits, found.num_players())

    def judged(self, rules: BaseRules) -> JudgedRules | None:
        """A game's rules with this value compiled; None where observations are the features.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        if self.network is None:
            return None
        self.check_rules(rules)
        return JudgedRules(
            judged_rules(rules, self.network, self.weights.shape), self.weights.ravel()
        )

    def _check_game(self, state: Any) -> None:
        """Refuse a state of another game; for a board, ``check_rules`` completes the check."""
        game_key = StateAbilities(state).game_key
        key = None if game_key is None else game_key()
        if key is not None and key == self._known:
            return
        bounds = float(state.min_utility()), float(state.max_utility())
        same = state.num_players() == self.players and bounds == self.utilities
        if self.network is None:
            same = same and parsed_game(self.game) == parsed_game(game_text(state))
        if not same:
            raise self.refusal(game_text(state))
        self._known = key

    def check_rules(self, rules: BaseRules) -> None:
        """Refuse rules of another game, or with another value of a parameter."""
        if rules is self._known_rules:
            return
        assert self.network is not None
        same = (
            fits_game(self.game, rules)
            and (*rules.board_shape, rules.cell_kinds) == self.network.board
            and self.players == rules.num_players
        )
        if not same:
            raise self.refusal(str(rules))
        self._known_rules = rules

    def _utilities(self, logits: NDArray[Any], players: int) -> list[float]:
        low, high = self.utilities
        # The logistic function is a share of the utilities, from the least to the greatest.
        values = (low + (high - low) / (1.0 + np.exp(-logits))).tolist()
        if len(values) < players:
            assert self.utility_sum is not None
            values.append(self.utility_sum - values[0])
        return [float(value) for value in values]


def game_text(state: Any) -> str:
    """A state's game as text: its name and all parameters, or its class."""
    game_key = StateAbilities(state).game_key
    key = type(state) if game_key is None else game_key()
    text = ", ".join(
        f"{part.__module__}.{part.__qualname__}" if isinstance(part, type) else str(part)
        for part in (key if isinstance(key, tuple) else (key,))
    )
    if len(text) <= MOST_LETTERS:
        return text
    # Files limit the length of texts; the hash still distinguishes long names.
    return f"{text[:MOST_NAMED]}... ({hashlib.sha256(text.encode()).hexdigest()})"


def parsed_game(text: str) -> tuple[str, dict[str, str]]:
    """The name of a game and its parameters; the whole text and none if it has another form."""
    name, _, rest = text.partition("(")
    given = rest.removesuffix(")")
    # Nested parentheses, or no closing one: not of the form name(key=value,...).
    if "(" in given or len(rest) == len(given) > 0:
        return text, {}
    pairs = (pair.partition("=") for pair in given.split(",") if pair)
    return name, {key.strip(): _canonical(value) for key, _, value in pairs}


def fits_game(text: str, rules: BaseRules) -> bool:
    """True if a text names the game of these rules; the order of parameters does not matter."""
    name, given = parsed_game(text)
    defaults = {key: _canonical(value) for key, value in rules.parameter_defaults().items()}
    parameters = {key: _canonical(value) for key, value in rules.parameters.items()}
    # A text may leave out parameters that have their default.
    same = _of_effect({**defaults, **given}, rules) == _of_effect(parameters, rules)
    return same and name == str(rules).partition("(")[0]


def _canonical(value: Any) -> str:
    """A parameter's value as text, the same for equal numbers."""
    try:
        return repr(float(str(value)))
    except ValueError:
        return str(value).strip()


def _of_effect(parameters: dict[str, str], rules: BaseRules) -> dict[str, str]:
    """Parameters with ``max_game_length`` capped: longer games are the same in practice."""
    length = parameters.get("max_game_length")
    if length is None:
        return parameters
    longest, number = float(2 * rules.num_board_cells), float(length)
    capped = longest if number < 0 else min(number, longest)
    return {**parameters, "max_game_length": repr(capped)}


_NETWORK_ARRAYS = ("cells", "tables", "kinds")
"""The arrays of a network in a file."""


def _arguments(arrays: Arrays) -> dict[str, Any]:
    weights = arrays["weights"]
    if number_in(arrays, "format") != FORMAT:
        raise ValueError("it has another format")
    if weights.dtype not in (np.float32, np.float16):
        raise ValueError(f"its weights are {weights.dtype}, not float32 or float16")
    total = number_in(arrays, "utility_sum")
    found: dict[str, Any] = {
        **description_in(arrays),
        "weights": weights,
        "utilities": tuple(arrays["utilities"].tolist()),
        "utility_sum": None if math.isnan(total) else total,
        "players": int(number_in(arrays, "players")),
    }
    if "board" in arrays:
        # Files of earlier development versions have this array, always empty.
        if "stages" in arrays and arrays["stages"].size:
            raise ValueError("it has weights for stages of the game")
        for name in _NETWORK_ARRAYS:
            if arrays[name].dtype.kind != "i":
                raise ValueError(f"its {name} are no integers")
        named: dict[str, Any] = {name: arrays[name] for name in _NETWORK_ARRAYS}
        found["network"] = TupleNetwork(board=tuple(arrays["board"].ravel().tolist()), **named)
    if "backup" in arrays:
        found["backup"] = text_in(arrays, "backup")
    if "other_sizes" in arrays:
        found["other_sizes"] = number_in(arrays, "other_sizes") == 1.0
    return found


def _check_utilities(utilities: Any, utility_sum: Any) -> None:
    fits = isinstance(utilities, tuple) and len(utilities) == 2 and all(map(is_number, utilities))
    if not fits or not -math.inf < utilities[0] <= utilities[1] < math.inf:
        raise ValueError(f"utilities must be the least and the greatest, got {utilities!r}.")
    if utility_sum is not None and not (is_number(utility_sum) and math.isfinite(utility_sum)):
        raise ValueError(f"utility_sum must be a finite number or None, got {utility_sum!r}.")


def _check_weights(
    weights: NDArray[np.float32], players: int, network: TupleNetwork | None, *, constant_sum: bool
) -> None:
    rows, outputs, width = weights.shape if weights.ndim == 3 else (0, 0, 0)
    needed = players
    if network is not None:
        needed = 1 if network.shared else players
        if network.shared and not (players == 2 and outputs == 1):
            raise ValueError("Only two players whose utilities have a constant sum share weights.")
    one_of_two = outputs == 1 and players == 2 and constant_sum
    fits = weights.size > 0 and rows == needed and (outputs == players or one_of_two)
    if not fits or (network is not None and width != network.size + 1):
        raise ValueError(f"The weights do not fit: their shape is {weights.shape}.")
    if not np.isfinite(weights).all():
        raise ValueError("The weights of a value must be finite numbers.")
