"""Networks that learn: the interface for training, and its implementation for torch modules.

This module does not import torch: the user's code has imported it to make a module.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import GameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.models import fields_taken, given_to, is_torch_module, tensors_for
from rave_agents.simulate.evaluations import pair_of

Arrays = Mapping[str, NDArray[Any]]

LEARNING_RATE = 2e-3
"""Step size of Adam."""

WEIGHT_DECAY = 1e-4
"""Weight of the squared parameters (L2 regularisation)."""


class NetworkSizes(NamedTuple):
    """The facts of a game that determine a network's size."""

    observation_shape: tuple[int, ...]
    """The shape of one observation."""
    num_actions: int
    """The game's distinct actions."""
    num_players: int
    """The game's number of players."""
    num_values: int
    """Number of values of the network: 1, of the player to move, or one per player."""
    utilities: tuple[float, float]
    """The least and greatest utility."""


class Lesson(NamedTuple):
    """Positions of self-play to learn from, one per row."""

    observations: NDArray[np.float32]
    """[B, ...] observations of the player to move."""
    legal_actions_mask: NDArray[np.bool_]
    """[B, A] whether each action is legal."""
    players: NDArray[np.int64]
    """[B] the player to move."""
    policy: NDArray[np.float32]
    """[B, A] the search's policy; each row sums to 1."""
    values: NDArray[np.float32]
    """[B, players] each player's return from here on; that of the player to move is mixed with the
    search's value."""

    def rows(self, chosen: NDArray[np.int64]) -> "Lesson":
        """A selection of the positions."""
        parts: list[Any] = [part[chosen] for part in self]
        return Lesson(*parts)

    @classmethod
    def joined(cls, lessons: Sequence["Lesson"]) -> Self:
        """The positions of several lessons, concatenated."""
        parts: list[Any] = [np.concatenate(part) for part in zip(*lessons, strict=True)]
        return cls(*parts)

    @property
    def own_values(self) -> NDArray[np.float32]:
        """[B] the values of the players to move."""
        return self.values[np.arange(len(self.players)), self.players]


@runtime_checkable
class Trainable(Protocol):
    """A custom network for training, other than torch modules.

    It is also an evaluator of batches, see ``as_evaluator``: called with observations it returns
    the policy's logits [B, A] and the values [B] or [B, players].
    """

    def learn(self, lesson: Lesson) -> float:
        """Take one learning step on these positions. Returns the mean loss."""

    def state_dict(self) -> Arrays:
        """The learned parameters, by name."""

    def load_state_dict(self, state_dict: Arrays) -> object:
        """Replace the parameters by these."""


def is_network(thing: Any) -> bool:
    """True for an object that can be trained."""
    return not isinstance(thing, type) and (is_torch_module(thing) or isinstance(thing, Trainable))


def trainable(network: Any, sizes: NetworkSizes) -> Trainable:
    """Adapt a network for training.

    Raises:
        TypeError: for an object that cannot be trained, naming the missing methods.
    """
    if is_torch_module(network):
        return TorchTrainable(network, sizes)
    if isinstance(network, Trainable):
        return network
    lacks = [
        name
        for name in ("learn", "state_dict", "load_state_dict")
        if not callable(getattr(network, name, None))
    ]
    raise TypeError(
        "A trainable network is a torch.nn.Module, or a callable of observations with "
        "learn(lesson), state_dict() and load_state_dict(arrays): "
        f"{type(network).__name__} has no {', '.join(lacks)}."
    )


class TorchTrainable:
    """A torch module trained with Adam: cross-entropy for the policy, squared error for values.

    Args:
        module: the network.
        sizes: the game's sizes.
    """

    def __init__(self, module: Any, sizes: NetworkSizes) -> None:
        torch: Any = sys.modules["torch"]
        self._module = module
        self._takes = fields_taken(module.forward)
        self._half = 0.5 * (sizes.utilities[1] - sizes.utilities[0])
        learned = [each for each in module.parameters() if each.requires_grad]
        if not learned:
            raise TypeError(f"{type(module).__name__} has no parameters to train.")
        if any(torch.nn.parameter.is_lazy(each) for each in learned):
            raise TypeError(
                f"{type(module).__name__} has lazy layers, whose sizes are not known before its "
                "first call: give them sizes, or call it once where it is made."
            )
        self._first = learned[0]
        self._optimizer = torch.optim.Adam(learned, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    def learn(self, lesson: Lesson) -> float:
        """Take an Adam step. Returns the loss."""
        torch: Any = sys.modules["torch"]
        batch = Batch(lesson.observations, lesson.legal_actions_mask, lesson.players)
        self._module.train()
        answer = self._module(*tensors_for(self._first, given_to(batch, self._takes)))
        policy, values = self._pair(answer, len(lesson.players))
        # Illegal actions get a probability of 0; -inf would make their gradients NaN.
        logits = policy.masked_fill(~self._tensor(lesson.legal_actions_mask), -1e9)
        fit = -(self._tensor(lesson.policy) * torch.log_softmax(logits, dim=-1)).sum(dim=-1).mean()
        wanted = lesson.values if values.dim() > 1 else lesson.own_values
        # Relative to half of the range of utilities, as if they were from -1 to 1.
        missed = (values - self._tensor(wanted)) / self._half
        loss = fit + (missed * missed).mean()
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float(loss.item())

    def state_dict(self) -> Arrays:
        """The module's parameters as arrays."""
        return {
            name: _array(tensor.detach().cpu())
            for name, tensor in self._module.state_dict().items()
        }

    def load_state_dict(self, state_dict: Arrays) -> None:
        """Load these parameters; the module refuses those that do not fit."""
        torch: Any = sys.modules["torch"]
        tensors = {name: torch.as_tensor(np.array(each)) for name, each in state_dict.items()}
        self._module.load_state_dict(tensors)

    def _tensor(self, array: Any) -> Any:
        torch: Any = sys.modules["torch"]
        return torch.as_tensor(array, device=self._first.device)

    def _pair(self, answer: Any, rows: int) -> tuple[Any, Any]:
        """The policy, and the values: [B] of the player to move, or [B, players]."""
        pair = pair_of(answer)
        name = type(self._module).__name__
        if pair is None or pair[0] is None or pair[1] is None:
            raise TypeError(
                f"{name} must return the policy's logits and the values, to be trained."
            )
        policy, values = pair
        if not (
            all(hasattr(each, "requires_grad") for each in pair)
            and any(each.requires_grad for each in pair)
        ):
            raise GameError(
                f"{name} cannot be trained: its policy and values must be tensors that are "
                "computed from its parameters, without torch.no_grad(), detach() or numpy()."
            )
        # [B, 1] is [B]: broadcasting it against [B] would give [B, B].
        return policy, values.reshape(rows) if values.numel() == rows else values


def _array(tensor: Any) -> NDArray[Any]:
    # NumPy has no bfloat16.
    tensor = tensor.float() if str(tensor.dtype).endswith("bfloat16") else tensor
    return np.array(tensor.numpy())
