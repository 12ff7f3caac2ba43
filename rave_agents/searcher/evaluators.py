"""``as_evaluator``: an evaluator of whatever a user has that evaluates positions."""

import inspect
import os
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from rave_agents.compiler.part_fields import Takes
from rave_agents.config.part_specs import checked, is_part
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.frameworks.libraries import METHODS, NAMES
from rave_agents.frameworks.sources import find_source
from rave_agents.game.game_state import GameState, legal_actions_of, moving_players
from rave_agents.game.object_names import split_place
from rave_agents.game.signatures import is_needed, parameters_of
from rave_agents.games.kit.values import is_compiled_value, position_value
from rave_agents.kernel.values.implicit_minimax import Judging
from rave_agents.knowledge.file_match import warn_of_lost_match
from rave_agents.knowledge.linear_value import MINIMAX, LinearValue
from rave_agents.knowledge.move_policy import load_learned
from rave_agents.searcher.models import function_evaluator, model_evaluator
from rave_agents.searcher.trained_network import named_network
from rave_agents.simulate.evaluations import checked_policy, kind_of_answer
from rave_agents.simulate.evaluator import Evaluator, EvaluatorKind
from rave_agents.simulate.value import PositionPriors, PositionValue

TAKES = (
    "an evaluator must be a function of a state, which returns its value; an object with "
    "evaluate(state), prior(state) or both; a network or another function of observations, which "
    "returns policy and values; a Stable-Baselines3 model with a critic; a part that implements "
    "position_value; the file that rave-agents learn or train wrote; or the place of one of these, "
    "such as 'my_module:net' or './nets.py:net'"
)
"""Everything that ``as_evaluator`` takes, for messages."""

STATE_NAMES = ("state", "s", "st", "game_state", "position", "pos", "node")
"""Names of the parameter by which a function takes a state."""

BATCH_NAMES = (
    *("observations", "batch", "x", "xs", "input", "inputs", "tensor", "tensors"),
    *("features", "planes", "images", "data", "array"),
)
"""Names of the parameter by which a function takes observations, beside those in ``NAMES``."""

ARRAY_TYPES = ("Tensor", "ndarray", "NDArray", "Array", "Batch")
"""Words in the annotations of such parameters."""


def as_evaluator(given: Any) -> Any:
    """An evaluator of whatever evaluates positions.

    It takes:

    * values alone: a function whose parameter is called ``state``; an object with
      ``evaluate(state)``; a ``LinearValue``, or the path of the file that ``rave-agents learn``
      wrote; a part that implements ``rave_agents.parts.position_value``, which is compiled with a
      game's rules. A value is what the player to move may still expect, in the game's utilities, or
      a number for each player;
    * priors alone: an object with ``prior(state)``, which gives (action, probability) pairs; a
      ``MovePolicy``, or the path of its file;
    * both: an object with ``evaluate(state)`` and ``prior(state)``, OpenSpiel's ``Evaluator``;
    * what takes observations in batches: a ``BatchEvaluator``; a ``torch.nn.Module``; a model of
      OpenSpiel's AlphaZero; a model of Stable-Baselines3 or sb3-contrib with a critic, such as PPO
      or MaskablePPO; a function, of JAX for example, whose parameter is called ``observations``.
      A second parameter, or one of a name such as ``action_mask``, gets the mask [B, A], one named
      ``batch`` the whole ``Batch``. Modules and functions return the policy's logits [B, A] and the
      values [B], [B, 1] or [B, players], in a pair or a dictionary, or one of them alone;
    * what ``rave-agents train`` wrote: the file ``"net.npz"``, or with the code of a network of
      one's own ``"net.npz(network=./nets.py:Net)"``;
    * by name: ``"my_module:net"`` or ``"./nets.py:Net(width=64)"``. A class or a function without
      required parameters is called to make it.

    Returns:
        A ``BatchEvaluator`` for what takes batches, else what was given.

    Raises:
        TypeError: if it is none of these; the message says what it lacks.
        ValueError: if a name or a file is not what it should be.
        OSError: if there is no such file.

    Warns:
        UserWarning: of a learned file that lost the match against the agent without it.
    """
    found = _understood(given)
    warn_of_lost_match(found)
    return found


def _understood(given: Any) -> Any:
    """The evaluator, see ``as_evaluator``."""
    if isinstance(given, str | os.PathLike):
        return _of_text(os.fspath(given))
    if isinstance(given, type):
        return _understood(_made(given, {}, given.__name__))
    if is_part(given):
        return _checked_part(given)
    if isinstance(given, BatchEvaluator | LinearValue) or _is_openspiels(given):
        return given
    return model_evaluator(given) or _of_object(given)


def _is_openspiels(given: Any) -> bool:
    """True for an OpenSpiel ``Evaluator``, a module's own methods included; not AlphaZero's."""
    inner = getattr(given, "_model", None)
    return isinstance(given, Evaluator) and not callable(getattr(inner, "inference", None))


def _of_object(given: Any) -> Any:
    """An object with an evaluator's methods, or a function."""
    evaluates, gives_priors = (callable(getattr(given, name, None)) for name in _METHODS)
    if gives_priors or (evaluates and not callable(given)):
        return given
    tells_actions = [name for name in METHODS if callable(getattr(given, name, None))]
    if not callable(given) or (tells_actions and not _is_of_keras(given)):
        has = f"{tells_actions[0]}(), which tells an action alone" if tells_actions else "none"
        raise TypeError(f"{TAKES}. {type(given).__name__} has {has}: got {given!r}.")
    return given if _takes_state(given) else function_evaluator(given)


def _is_of_keras(model: Any) -> bool:
    """True for a model of Keras, which is called with observations, and predicts values, too."""
    return any(kind.__module__.partition(".")[0] == "keras" for kind in type(model).__mro__)


_METHODS = ("evaluate", "prior")


def _takes_state(function: Any) -> bool:
    """True if a function takes a state, False if it takes observations."""
    parameters = parameters_of(function)
    if parameters is None:
        return False
    named = [
        each
        for each in parameters.values()
        if each.kind not in (each.VAR_KEYWORD, each.KEYWORD_ONLY)
    ]
    if not named or named[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return False
    first, annotation = named[0].name.lower(), str(named[0].annotation)
    if first in STATE_NAMES or "State" in annotation:
        return True
    if any(word in annotation for word in ARRAY_TYPES):
        return False
    if any(each.name.lower() in (*BATCH_NAMES, *NAMES) for each in named):
        return False
    name = getattr(function, "__name__", type(function).__name__)
    raise TypeError(
        f"evaluator: what does {name} take? Its parameter {named[0].name!r} does not tell. Call it "
        "state, if the function takes one state and returns its value, or observations, if it "
        "takes those of a batch and returns policy and values."
    )


def _checked_part(part: Any) -> Any:
    """A part as it is, if it is a value function."""
    if not is_compiled_value(part):
        name = type(part).__name__
        raise TypeError(
            f"evaluator: nothing is registered for {name}. Write a function under "
            f"@implements(position_value, {name})."
        )
    return part


_OF_MODELS = (".zip", ".pt", ".pth", ".pkl", ".onnx", ".safetensors", ".keras", ".h5")
"""Endings of files of models."""


def _of_text(text: str) -> Any:
    """The evaluator that a path or a name leads to."""
    if text.endswith(".py"):
        raise UnknownNameError(f"evaluator={text!r}: say which name in it, {text}:Name.")
    network = named_network(text)
    if network is not None:
        return network
    if text.endswith(".npz") and not os.path.exists(text):
        raise FileNotFoundError(f"evaluator={text!r}: there is no such file.")
    if text.endswith(_OF_MODELS) and os.path.isfile(text):
        raise UnknownNameError(
            f"evaluator={text!r} is no file that rave-agents learn or train writes. A model's file "
            "is read by what you name in Python, such as ./nets.py:net."
        )
    if os.path.exists(text):
        return load_learned(text)
    if split_place(text) is None:
        raise _unknown_text(text)
    try:
        source = find_source(text, "evaluator", "my_networks:connect_four")
    except UnknownNameError as error:
        raise UnknownNameError(f"evaluator={text!r}: {error}") from error
    found = source.value
    if isinstance(found, type) and issubclass(found, tuple):
        return checked("evaluator", Annotated[Any, Takes(position_value)], text)
    makes = isinstance(found, type) or (inspect.isfunction(found) and _needs_nothing(found))
    if makes or text.rstrip().endswith(")"):
        found = _made(found, source.parameters, text)
    return _understood(found)


def _unknown_text(text: str) -> Exception:
    """The error for a text that is neither a file nor a name."""
    module, _, name = text.partition("(")[0].rpartition(".")
    if module and all(word.isidentifier() for word in (*module.split("."), name)):
        written = f"{module}:{name}"
        return UnknownNameError(
            f"evaluator={text!r}: there is no such file, and what a module of yours defines is "
            f"written with a colon, {written}."
        )
    return UnknownNameError(
        f"evaluator={text!r} is neither a file, such as value.npz, nor of the form module:Name or "
        "path/to/file.py:Name, such as my_networks:connect_four."
    )


def _needs_nothing(function: Any) -> bool:
    return not any(map(is_needed, (parameters_of(function) or {}).values()))


def _made(maker: Any, parameters: Mapping[str, Any], name: str) -> Any:
    """The object that a class or a function makes."""
    if not callable(maker):
        raise TypeError(f"{name} takes no parameters: it is {maker!r}.")
    try:
        inspect.signature(maker).bind(**parameters)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} cannot make an evaluator: {error}. Give an object of it."
        ) from None
    return maker(**parameters)


def check_use(evaluator: Any, config: SearchConfig) -> None:
    """Refuse a configuration that does not go with an evaluator.

    Raises:
        ValueError: for several playouts beside what takes their place, and for ``judging`` without
            a value function.
    """
    kind = kind_of(evaluator)
    if config.judging != Judging() and not kind.positions:
        raise ValueError(
            "judging says how values of single positions are used: give evaluator=..., a function "
            "of a state, a learned file or another value function."
        )
    if kind.leaves and config.playout_count > 1:
        raise ValueError("playout_count must be 1 with an evaluator that stands for playouts.")


def kind_of(evaluator: Any) -> EvaluatorKind:
    """The facts known of an evaluator; of batches, before the first question, the usual."""
    if evaluator is None:
        return EvaluatorKind()
    if isinstance(evaluator, BatchEvaluator):
        values, policy = evaluator.gives != "policy", evaluator.gives != "values"
        return EvaluatorKind(leaves=values, priors=policy, batched=values)
    if callable(getattr(evaluator, "prior", None)):
        return EvaluatorKind(leaves=callable(getattr(evaluator, "evaluate", None)), priors=True)
    return EvaluatorKind(
        positions=True,
        minimax=isinstance(evaluator, LinearValue) and evaluator.backup == MINIMAX,
    )


def is_value_function(evaluator: Any) -> bool:
    """True if an evaluator evaluates single positions, and gives no priors."""
    return kind_of(evaluator).positions


def horizon_value(evaluator: Any) -> Any:
    """The evaluator as an environment takes it where a horizon cuts simulations off, or None."""
    return evaluator if is_value_function(evaluator) else None


def at_a_position(evaluator: Any, root: GameState, playout_moves: float) -> Any:
    """The object that a provider asks in an evaluator's place; None for nothing.

    Args:
        evaluator: what ``as_evaluator`` gives, or None.
        root: a position of the game.
        playout_moves: moves of players after which a value function cuts a playout.
    """
    kind = kind_of(evaluator)
    if kind.positions:
        return PositionValue(evaluator, root, playout_moves)
    if kind.priors and not kind.leaves:
        batched = isinstance(evaluator, BatchEvaluator)
        return PositionPriors(_BatchPriors(evaluator) if batched else evaluator)
    return evaluator


def ask_what_it_gives(evaluator: Any, state: GameState) -> None:
    """Ask an evaluator of batches about a position, if it is not known yet what it answers.

    Raises:
        GameError: if that cannot be told.
        Exception: what it raises, unchanged.
    """
    if not isinstance(evaluator, BatchEvaluator) or evaluator.gives is not None:
        return
    if not hasattr(state, "observation"):
        return  # The search says so.
    player = int(state.current_player())
    player = player if player >= 0 else moving_players(state)[0]
    answer = evaluator(_batch_of_one(state, player))
    actions, players = int(state.num_distinct_actions()), int(state.num_players())
    evaluator.gives = kind_of_answer(evaluator.name, answer, actions, players)


def _batch_of_one(state: Any, player: int) -> Batch:
    """A position as a batch."""
    mask = np.zeros((1, int(state.num_distinct_actions())), np.bool_)
    mask[0, list(legal_actions_of(state, player))] = True
    observation = np.asarray(state.observation(player), np.float32)
    return Batch(observation[None], mask, np.array([player], np.int64))


class _BatchPriors:
    """The priors of an evaluator of batches that gives no values, one position at a time."""

    def __init__(self, evaluator: BatchEvaluator) -> None:
        self._evaluator = evaluator

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """The probabilities of the legal actions, which sum to 1."""
        found: Any = as_game_state(state)
        player = int(found.current_player())
        batch, evaluator = _batch_of_one(found, player), self._evaluator
        answer = evaluator(batch)
        row = checked_policy(evaluator.name, answer, batch.legal_actions_mask.shape)[0]
        legal = [int(action) for action in found.legal_actions()]
        weights = np.asarray(row[legal], np.float64)
        if evaluator.policy == "logits":
            weights = np.exp(weights - weights.max())
        weights /= weights.sum()
        return list(zip(legal, weights.tolist(), strict=True))
