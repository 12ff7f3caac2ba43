"""``as_evaluator``: coerces user input to an evaluator of positions."""

import inspect
import os
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from rave_agents.compiler.part_fields import Takes
from rave_agents.config.part_specs import checked, is_part
from rave_agents.config.regrets import keeps_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.evaluators.learned_file import warn_of_lost_match
from rave_agents.evaluators.linear_value import MINIMAX, LinearValue
from rave_agents.evaluators.models import alpha_zero_inference, function_evaluator, model_evaluator
from rave_agents.evaluators.move_policy import load_learned
from rave_agents.evaluators.trained_network import named_network
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.frameworks.sources import find_source
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, legal_actions_of, moving_players
from rave_agents.game.object_names import name_of, split_place
from rave_agents.game.signatures import is_needed, parameters_of
from rave_agents.games.kit.values import is_compiled_value, position_value
from rave_agents.kernel.values.implicit_minimax import Judging
from rave_agents.simulate.evaluations import checked_policy, kind_of_answer
from rave_agents.simulate.evaluator import Evaluator, EvaluatorAbilities, EvaluatorKind
from rave_agents.simulate.value import PositionPriors, PositionValue

TAKES = (
    "an evaluator must be a function of a state, which returns its value; an object with "
    "evaluate(state), prior(state) or both; a network or another function of observations, which "
    "returns policy and values; a Stable-Baselines3 model with a critic; a part that implements "
    "position_value; a file written by rave-agents learn or train; or the name of one of these, "
    "such as 'my_module:net' or './nets.py:net'"
)
"""Everything that ``as_evaluator`` accepts, for messages."""


def as_evaluator(given: Any) -> Any:
    """Coerce user input to an evaluator of positions.

    Accepted are:

    * values alone: a function whose first parameter is called ``state``; an object with
      ``evaluate(state)``; a ``LinearValue``, or the path of the file that ``rave-agents learn``
      wrote; a part that implements ``rave_agents.parts.position_value``, which is compiled with a
      game's rules. A value is the expected return of the player to move, in the game's utilities,
      or one number per player;
    * priors alone: an object with ``prior(state)``, which returns (action, probability) pairs; a
      ``MovePolicy``, or the path of its file;
    * both: an object with ``evaluate(state)`` and ``prior(state)``, OpenSpiel's ``Evaluator``;
    * evaluators of batches of observations: a ``BatchEvaluator``; a ``torch.nn.Module``; a model of
      OpenSpiel's AlphaZero; a model of Stable-Baselines3 or sb3-contrib with a critic, such as PPO
      or MaskablePPO; a function, of JAX for example, whose first parameter is called
      ``observations`` or ``batch``. The one called ``batch`` gets the whole ``Batch``, the next
      after ``observations``, or any with ``mask`` in its name, the mask [B, A]. Modules and
      functions return the policy's logits [B, A] and the values [B], [B, 1] or [B, players], in a
      pair or a dictionary, or one of them alone;
    * files of ``rave-agents train``: ``"net.npz"``, or with a custom network's code
      ``"net.npz(network=./nets.py:Net)"``;
    * by name: ``"my_module:net"`` or ``"./nets.py:Net(width=64)"``. A class or a function without
      required parameters is called to make the evaluator.

    Returns:
        A ``BatchEvaluator`` for batches, else the given object.

    Raises:
        TypeError: if it is none of these; the message names what is missing.
        ValueError: for an invalid name or file.
        OSError: if there is no such file.

    Warns:
        UserWarning: if a learned file lost its match against the agent without it.
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
    """True for an OpenSpiel ``Evaluator``, or a module with its methods, but not AlphaZero's."""
    return isinstance(given, Evaluator) and alpha_zero_inference(given) is None


def _of_object(given: Any) -> Any:
    """An object with an evaluator's methods, or a function."""
    offers = EvaluatorAbilities(given)
    if offers.prior is not None or (offers.evaluate is not None and not callable(given)):
        return given
    if not callable(given):
        raise TypeError(f"{TAKES}. {type(given).__name__} has none: got {given!r}.")
    return given if _takes_state(given) else function_evaluator(given)


def _takes_state(function: Any) -> bool:
    """True if a function takes a state, False if it takes observations or a batch."""
    # A compiled function, or one that passes *args on, has no first parameter to go by.
    first = next(iter((parameters_of(function) or {}).values()), None)
    if first is None or first.kind in (first.VAR_POSITIONAL, first.VAR_KEYWORD):
        return False
    if first.name in ("state", "observations", "batch"):
        return first.name == "state"
    raise TypeError(
        f"evaluator: what does {name_of(function)} take? Its parameter {first.name!r} does not "
        "say. Name it state if the function takes one state and returns its value, or observations "
        "if it takes a batch of them and returns policy and values."
    )


def _checked_part(part: Any) -> Any:
    """The part unchanged, if it is a value function."""
    if not is_compiled_value(part):
        name = type(part).__name__
        raise TypeError(
            f"evaluator: nothing is registered for {name}. Write a function under "
            f"@implements(position_value, {name})."
        )
    return part


_OF_MODELS = (".zip", ".pt", ".pth", ".pkl", ".onnx", ".safetensors", ".keras", ".h5")
"""File name extensions of models."""


def _of_text(text: str) -> Any:
    """The evaluator behind a path or a name."""
    if text.endswith(".py"):
        raise UnknownNameError(f"evaluator={text!r}: add the name of the object, {text}:Name.")
    network = named_network(text)
    if network is not None:
        return network
    if text.endswith(".npz") and not os.path.exists(text):
        raise FileNotFoundError(f"evaluator={text!r}: there is no such file.")
    if text.endswith(_OF_MODELS) and os.path.isfile(text):
        raise UnknownNameError(
            f"evaluator={text!r} is not a file of rave-agents learn or train. Load a model's file "
            "in Python, and name the loaded object, such as ./nets.py:net."
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
            f"evaluator={text!r}: there is no such file, and objects of your modules are written "
            f"with a colon, {written}."
        )
    return UnknownNameError(
        f"evaluator={text!r} is neither a file, such as value.npz, nor of the form module:Name or "
        "path/to/file.py:Name, such as my_networks:connect_four."
    )


def _needs_nothing(function: Any) -> bool:
    return not any(map(is_needed, (parameters_of(function) or {}).values()))


def _made(maker: Any, parameters: Mapping[str, Any], name: str) -> Any:
    """The object made by a class or a function."""
    if not callable(maker):
        raise TypeError(f"{name} takes no parameters: it is {maker!r}.")
    try:
        inspect.signature(maker).bind(**parameters)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} cannot make an evaluator: {error}. Pass an instance of it."
        ) from None
    return maker(**parameters)


def check_use(evaluator: Any, config: SearchConfig) -> None:
    """Refuse a configuration that does not fit an evaluator.

    Raises:
        ValueError: for several playouts with an evaluator that replaces them, for ``judging``
            without a value function, and for regrets, which use no evaluator.
    """
    kind = kind_of(evaluator)
    if evaluator is not None and keeps_regrets(config.regrets):
        raise ValueError("regrets=mccfr uses no evaluator: leave it out.")
    if config.judging != Judging() and not kind.positions:
        raise ValueError(
            "judging configures the use of values of single positions: pass evaluator=..., a "
            "function of a state, a learned file or another value function."
        )
    if kind.leaves and config.playout_count > 1:
        raise ValueError("playout_count must be 1 with an evaluator that replaces playouts.")


def kind_of(evaluator: Any) -> EvaluatorKind:
    """The kind of an evaluator; for batches, a default until the first answer."""
    if evaluator is None:
        return EvaluatorKind()
    if isinstance(evaluator, BatchEvaluator):
        values, policy = evaluator.gives != "policy", evaluator.gives != "values"
        return EvaluatorKind(leaves=values, priors=policy, batched=values)
    offers = EvaluatorAbilities(evaluator)
    if offers.prior is not None:
        return EvaluatorKind(leaves=offers.evaluate is not None, priors=True)
    return EvaluatorKind(
        positions=True,
        minimax=isinstance(evaluator, LinearValue) and evaluator.backup == MINIMAX,
    )


def is_value_function(evaluator: Any) -> bool:
    """True if an evaluator evaluates single positions and returns no priors."""
    return kind_of(evaluator).positions


def horizon_value(evaluator: Any) -> Any:
    """The evaluator for positions at which an environment's horizon cuts simulations, or None."""
    return evaluator if is_value_function(evaluator) else None


def at_a_position(evaluator: Any, root: GameState, playout_moves: float) -> Any:
    """The object that a provider calls for an evaluator; None for none.

    Args:
        evaluator: the result of ``as_evaluator``, or None.
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
    """Call an evaluator of batches on a position, if the form of its answers is still unknown.

    Raises:
        GameError: if the form cannot be recognised.
        Exception: any exception of the evaluator, unchanged.
    """
    if not isinstance(evaluator, BatchEvaluator) or evaluator.gives is not None:
        return
    if StateAbilities(state).observation is None:
        return  # The search reports it.
    player = int(state.current_player())
    player = player if player >= 0 else moving_players(state)[0]
    answer = evaluator(_batch_of_one(state, player))
    actions, players = int(state.num_distinct_actions()), int(state.num_players())
    evaluator.gives = kind_of_answer(evaluator.name, answer, actions, players)


def _batch_of_one(state: Any, player: int) -> Batch:
    """A batch of one position."""
    mask = np.zeros((1, int(state.num_distinct_actions())), np.bool_)
    mask[0, list(legal_actions_of(state, player))] = True
    observation = np.asarray(state.observation(player), np.float32)
    return Batch(observation[None], mask, np.array([player], np.int64))


class _BatchPriors:
    """Priors of an evaluator of batches without values, one position at a time."""

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
