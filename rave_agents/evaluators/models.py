"""Adapters from models of other libraries to evaluators of batches.

Models are recognised by their attributes; their libraries are not imported.
"""

import contextlib
import inspect
import pathlib
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_agents.errors import GameError, RaveAgentsError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.game.abilities import Abilities, Method, Offered
from rave_agents.game.object_names import name_of
from rave_agents.game.signatures import parameters_of

_NOT_OWN = (
    str(pathlib.Path(__file__).parents[1]),
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
)
"""Folders with code that is not the user's: this package, Python's library, and libraries."""


class ModelAbilities(Abilities):
    """What a model of another library may have."""

    __slots__ = ()

    _model: Offered[Any] = Offered(None)
    """The model inside OpenSpiel's evaluator of AlphaZero."""
    inference: Offered[Callable[..., Any] | None] = Method(None)
    """``inference(observations, masks)``: values and policies of a model of AlphaZero."""
    policy: Offered[Any] = Offered(None)
    """The policy of a model of Stable-Baselines3."""
    predict_values: Offered[Callable[..., Any] | None] = Method(None)
    """``predict_values(observations)``: the critic of such a policy."""


def alpha_zero_inference(evaluator: Any) -> Callable[..., Any] | None:
    """The inference of OpenSpiel's evaluator of AlphaZero; None for any other object."""
    return ModelAbilities(ModelAbilities(evaluator)._model).inference


def model_evaluator(model: Any) -> BatchEvaluator | None:
    """An evaluator of batches for a model of another library; None if it is not recognised."""
    inference = alpha_zero_inference(model) or ModelAbilities(model).inference
    if inference is not None:
        return BatchEvaluator(_OfAlphaZero(inference), policy="probabilities")
    if ModelAbilities(ModelAbilities(model).policy).predict_values is not None:
        return BatchEvaluator(_OfActorCritic(model), clip=True)
    if is_torch_module(model):
        return BatchEvaluator(_OfModule(model), gives=None)
    return None


def is_torch_module(thing: Any) -> bool:
    """True for a module of PyTorch, which takes tensors."""
    # No import: if torch is not loaded, the object cannot be a module of it.
    kind = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    return kind is not None and isinstance(thing, kind)


def function_evaluator(function: Callable[..., Any]) -> BatchEvaluator:
    """An evaluator of batches for a function of observations, masks or a batch."""
    return BatchEvaluator(_OfCallable(function), gives=None)


class _OfAlphaZero:
    """OpenSpiel's AlphaZero: takes flat observations, returns values [B, 1] and probabilities."""

    def __init__(self, inference: Callable[..., Any]) -> None:
        self._inference = inference

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        flat = batch.observations.reshape(len(batch.players), -1)
        values, policy = self._inference(flat, batch.legal_actions_mask)
        return np.asarray(policy), _of_first_player(np.asarray(values), batch)


def _of_first_player(values: Any, batch: Batch) -> Any:
    """Convert OpenSpiel's values, which are player 0's, to those of the player to move."""
    column = values.reshape(len(batch.players))
    return np.where(batch.players == 0, column, -column)  # Zero-sum: the other player's negative.


class _OfActorCritic:
    """Stable-Baselines3's policies with a critic."""

    def __init__(self, model: Any) -> None:
        self._policy = model.policy
        self._space = EnvAbilities(model).observation_space
        names = inspect.signature(self._policy.get_distribution).parameters
        self._takes_masks = "action_masks" in names

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        policy, count = self._policy, len(batch.players)
        policy.set_training_mode(False)
        seen, _ = policy.obs_to_tensor(self._shaped(batch, count))
        options = {"action_masks": batch.legal_actions_mask} if self._takes_masks else {}
        distribution = policy.get_distribution(seen, **options).distribution
        return distribution.logits, policy.predict_values(seen).reshape(count)

    def _shaped(self, batch: Batch, count: int) -> Any:
        spaces = SpaceAbilities(self._space).spaces
        if not isinstance(spaces, Mapping):
            return _fitted(batch.observations, self._space, count)
        return {
            name: _fitted(
                batch.legal_actions_mask if "mask" in name else batch.observations,
                space,
                count,
            )
            for name, space in spaces.items()
        }


def _fitted(values: Any, space: Any, count: int) -> Any:
    shape, kind = SpaceAbilities(space).shape, SpaceAbilities(space).dtype
    if shape is None or values[0].size != int(np.prod(shape)):
        return values
    return values.reshape(count, *shape).astype(kind)


class _OfCallable:
    """A function of observations, masks or a batch."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = name_of(function)
        self._takes = fields_taken(function)

    def __call__(self, batch: Batch) -> Any:
        return self._function(*given_to(batch, self._takes))


class _OfModule:
    """A module of torch, in evaluation mode."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.__name__ = type(module).__name__
        self._takes = fields_taken(module.forward)
        # Cached: collecting them takes as long as a call of a small network.
        self._parts = tuple(module.modules())
        self._first = next(iter(module.parameters()), None)

    def __call__(self, batch: Batch) -> Any:
        torch, module = sys.modules["torch"], self._module
        # Evaluation mode fixes dropout and batch normalisation; afterwards the modes are restored.
        training = [each for each in self._parts if each.training]
        if training:
            module.eval()
        try:
            with torch.inference_mode():
                return module(*tensors_for(self._first, given_to(batch, self._takes)))
        finally:
            for each in training:
                each.training = True


def tensors_for(parameter: Any, arrays: Iterable[Any]) -> list[Any]:
    """Arrays, or batches of them, as tensors on the device of a module's parameter.

    Args:
        parameter: one of the module's parameters, whose precision is used; None without any.
        arrays: the module's arguments.
    """
    torch: Any = sys.modules["torch"]
    device = None if parameter is None else parameter.device
    kind = parameter.dtype if parameter is not None and parameter.is_floating_point() else None
    found: list[Any] = []
    for each in arrays:
        if isinstance(each, Batch):
            found.append(Batch(*tensors_for(parameter, each)))
        else:
            tensor = torch.as_tensor(each, device=device)
            found.append(tensor.to(kind) if kind and tensor.is_floating_point() else tensor)
    return found


def fields_taken(function: Callable[..., Any]) -> list[str]:
    """The fields of a batch that a function takes: by place, but ``batch`` and masks by name."""
    fields, by_place = [], iter(["observations", "legal_actions_mask", "players"])
    for parameter in (parameters_of(function) or {}).values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name == "batch":
            fields.append("batch")
        elif "mask" in parameter.name:
            fields.append("legal_actions_mask")
        elif parameter.default is parameter.empty:
            fields.append(next((name for name in by_place if name not in fields), "players"))
    return fields or ["observations"]


def given_to(batch: Batch, takes: list[str]) -> list[Any]:
    """The arguments of a function from a batch, see ``fields_taken``."""
    return [batch if name == "batch" else batch._asdict()[name] for name in takes]


@contextlib.contextmanager
def own_code(doing: str) -> Iterator[None]:
    """Report an error of the user's code with the failed action and its line in their file.

    Raises:
        GameError: for exceptions of the code; errors of this package pass unchanged.
    """
    try:
        yield
    except (RaveAgentsError, MemoryError):
        raise
    except Exception as error:
        found = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if not frame.filename.startswith(_NOT_OWN)
        ]
        place = "".join(
            f" ({pathlib.Path(each.filename).name}, line {each.lineno})" for each in found[-1:]
        )
        raise GameError(f"{doing}: {type(error).__name__}: {error}{place}") from error
