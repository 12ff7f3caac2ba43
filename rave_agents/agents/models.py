"""Evaluators made of models: what each kind of model is asked, and what it lacks."""

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rave_agents.agents.libraries import METHODS, NAMES, is_torch_module
from rave_agents.errors import UnknownNameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.game.object_names import find_object, parse_object_name
from rave_agents.simulate.evaluator import Evaluator

AnyEvaluator = Evaluator | BatchEvaluator


def as_evaluator(model: Any) -> AnyEvaluator:
    """An evaluator for searches, of a model of another library.

    Models are known by their shape, and nothing is imported for them:

    * a ``BatchEvaluator``, and what has ``evaluate(state)`` and ``prior(state)`` as OpenSpiel's
      ``Evaluator``: as it is;
    * a model of OpenSpiel's AlphaZero, which has ``inference(observations, masks)``, or the
      ``AlphaZeroEvaluator`` of one;
    * a model of Stable-Baselines3 or sb3-contrib with a policy and a critic, such as PPO, A2C or
      MaskablePPO: its policy's logits, and its critic's values, moved into the game's utilities;
    * a ``torch.nn.Module``, in evaluation mode, on its own device, without gradients;
    * any other callable, a JAX function for example.

    Modules and callables get the observations [B, ...], and where a second parameter, or one of a
    name such as ``action_mask``, takes it, the mask [B, A]; a parameter named ``batch`` gets the
    ``Batch``. They return two arrays, or a dictionary of them: the policy's logits [B, A] and the
    values [B], [B, 1] or [B, players], in this order.

    Raises:
        TypeError: if it is none of these; the message says what it lacks.
    """
    if isinstance(model, type):
        raise TypeError(f"An evaluator must be an object, got the class {model.__name__} itself.")
    if isinstance(model, BatchEvaluator):
        return model
    inner = getattr(model, "_model", None)
    if isinstance(model, Evaluator) and not callable(getattr(inner, "inference", None)):
        return model
    inference = getattr(inner, "inference", None) or getattr(model, "inference", None)
    if callable(inference):
        return BatchEvaluator(_OfAlphaZero(inference), policy="probabilities")
    policy = getattr(model, "policy", None)
    if callable(getattr(policy, "predict_values", None)):
        return BatchEvaluator(_OfActorCritic(model), clip=True)
    if is_torch_module(model):
        return BatchEvaluator(_OfModule(model))
    answers_actions = [name for name in METHODS if callable(getattr(model, name, None))]
    if answers_actions or not callable(model):
        has = f"{answers_actions[0]}(), which tells an action alone" if answers_actions else "none"
        raise TypeError(
            "evaluator must have evaluate(state) and prior(state), or give the policy and the "
            "values for a batch of observations: a callable that returns both, a torch module, or "
            f"a Stable-Baselines3 model with a critic. "
            f"{type(model).__name__} has {has}: got {model!r}."
        )
    return BatchEvaluator(_OfCallable(model))


def loaded_evaluator(given: Any) -> AnyEvaluator | None:
    """An evaluator of a model, or of where there is one: ``"my_module:my_model"``, ``"a.py:net"``.

    What a name leads to may be a function without parameters, which makes it.

    Raises:
        ValueError: if the name has another form, or leads to nothing.
        TypeError: see ``as_evaluator``.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        return as_evaluator(given)
    try:
        model = find_object(parse_object_name(given, "my_networks:connect_four"))
    except UnknownNameError as error:
        raise UnknownNameError(f"evaluator={given!r}: {error}") from error
    if inspect.isfunction(model) and not inspect.signature(model).parameters:
        model = model()
    return as_evaluator(model)


class _OfAlphaZero:
    """OpenSpiel's AlphaZero: flat observations in; values [B, 1] and probabilities out."""

    def __init__(self, inference: Callable[..., Any]) -> None:
        self._inference = inference

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        flat = batch.observations.reshape(len(batch.players), -1)
        values, policy = self._inference(flat, batch.legal_actions_mask)
        return np.asarray(policy), _of_first_player(np.asarray(values), batch)


def _of_first_player(values: Any, batch: Batch) -> Any:
    """OpenSpiel's values are player 0's; those of the player to move."""
    column = values.reshape(len(batch.players))
    return np.where(batch.players == 0, column, -column)


class _OfActorCritic:
    """Stable-Baselines3's policies with a critic."""

    def __init__(self, model: Any) -> None:
        self._policy = model.policy
        self._space = getattr(model, "observation_space", None)
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
        """The observations as the model's space has them."""
        spaces = getattr(self._space, "spaces", None)
        if not isinstance(spaces, Mapping):
            return _fitted(batch.observations, self._space, count)
        return {
            name: _fitted(
                batch.legal_actions_mask if NAMES.get(name) == "mask" else batch.observations,
                space,
                count,
            )
            for name, space in spaces.items()
        }


def _fitted(values: Any, space: Any, count: int) -> Any:
    shape, kind = getattr(space, "shape", None), getattr(space, "dtype", None)
    if shape is None or values[0].size != int(np.prod(shape)):
        return values
    return values.reshape(count, *shape).astype(kind)


class _OfCallable:
    """A function of observations, masks or a batch."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self._takes = _parameters_of(function)

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        answer: tuple[Any, Any] = _pair(self._function(*_given(batch, self._takes)))
        return answer


class _OfModule:
    """A module of torch, in evaluation mode."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.__name__ = type(module).__name__
        self._takes = _parameters_of(module.forward)
        # To look for them takes as long as a small network does.
        self._parts = tuple(module.modules())
        self._first = next(iter(module.parameters()), None)

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        torch, module = sys.modules["torch"], self._module
        device = None if self._first is None else self._first.device
        training = [each for each in self._parts if each.training]
        if training:
            module.eval()
        try:
            with torch.inference_mode():
                given = _given(batch, self._takes)
                answer: tuple[Any, Any] = _pair(
                    module(*(torch.as_tensor(each, device=device) for each in given))
                )
                return answer
        finally:
            for each in training:
                each.training = True


def _parameters_of(function: Callable[..., Any]) -> list[str]:
    """Match a function's parameters without defaults with the fields of a batch."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["observations"]
    fields, unknown = [], iter(["observations", "legal_actions_mask", "players"])
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        meant = NAMES.get(parameter.name)
        if parameter.name == "batch":
            fields.append("batch")
        elif meant == "mask":
            fields.append("legal_actions_mask")
        elif parameter.default is parameter.empty:
            fields.append(next((name for name in unknown if name not in fields), "players"))
    return fields or ["observations"]


def _given(batch: Batch, takes: list[str]) -> list[Any]:
    return [batch if name == "batch" else getattr(batch, name) for name in takes]


def _pair(answer: Any) -> Any:
    """Policy and values, out of a dictionary or a named tuple as well."""
    if not isinstance(answer, Mapping):
        return answer
    names = {
        "policy": ("policy", "logits", "policy_logits", "priors", "pi"),
        "values": ("values", "value", "v"),
    }
    found = [
        next((answer[name] for name in options if name in answer), None)
        for options in names.values()
    ]
    return answer if any(each is None for each in found) else tuple(found)
