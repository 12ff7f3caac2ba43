"""A small torch network for any game: the default for training."""

import math
from typing import Any

from rave_agents.extras import missing

try:
    import torch
    from torch import nn
except ImportError as error:
    raise ValueError(
        missing("The network that is trained by default needs", "torch", "torch")
    ) from error


class SmallNetwork(nn.Module):  # type: ignore[misc]
    """Convolutions over planes, or layers over other observations, with a policy and values.

    Args:
        observation_shape: the shape of one observation; three numbers are channels, rows and
            columns, or rows, columns and channels if the last number is the smallest.
        num_actions: the game's distinct actions.
        num_values: number of values: 1, or one per player.
        utilities: the least and the greatest value.
        channels: channels of each convolution.
        hidden: units of the last hidden layer, and of earlier ones without convolutions.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        num_actions: int,
        num_values: int = 1,
        utilities: tuple[float, float] = (-1.0, 1.0),
        *,
        channels: int = 32,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        size = math.prod(observation_shape)
        self._planes = len(observation_shape) == 3
        self._channels_last = self._planes and observation_shape[2] < min(observation_shape[:2])
        layers: list[Any] = []
        if self._planes:
            before = observation_shape[2 if self._channels_last else 0]
            for _ in range(3):
                layers += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU()]
                before = channels
            size = size // observation_shape[2 if self._channels_last else 0] * channels
            layers.append(nn.Flatten())
        else:
            layers += [nn.Flatten(), nn.Linear(size, hidden), nn.ReLU()]
            size = hidden
        self.body = nn.Sequential(*layers, nn.Linear(size, hidden), nn.ReLU())
        self.policy, self.value = nn.Linear(hidden, num_actions), nn.Linear(hidden, num_values)
        self._middle, self._half = sum(utilities) / 2.0, (utilities[1] - utilities[0]) / 2.0

    def forward(self, observations: Any) -> tuple[Any, Any]:
        """Logits [B, actions] and values [B, values]."""
        if self._channels_last:
            observations = observations.movedim(-1, 1)
        elif observations.dim() == 1:
            observations = observations[:, None]  # Observations of a single number.
        hidden = self.body(observations)
        return self.policy(hidden), self._middle + self._half * torch.tanh(self.value(hidden))
