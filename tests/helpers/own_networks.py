"""Networks without torch: a layer of hidden units that learns by Adam, in NumPy."""

import math
import pathlib

import numpy as np

FILE = str(pathlib.Path(__file__))


class Perceptron:
    """Logits of a policy, and values by tanh, over one hidden layer."""

    def __init__(self, observation_shape, num_actions, num_values=1, seed=0, hidden=48, rate=0.01):
        draw = np.random.default_rng(seed)
        size = math.prod(observation_shape)
        self.actions, self.outputs, self.rate = num_actions, num_actions + num_values, rate
        self.numbers = {
            "hidden": draw.normal(0, 1 / math.sqrt(size + 1), (size + 1, hidden)),
            "out": draw.normal(0, 0.1 / math.sqrt(hidden), (hidden + 1, self.outputs)),
        }
        self.moments = {name: np.zeros((2, *each.shape)) for name, each in self.numbers.items()}
        self.steps = 0

    def __call__(self, observations):
        _, _, out = self.forward(observations)
        return out[:, : self.actions], np.tanh(out[:, self.actions :])

    def forward(self, observations):
        shown = np.column_stack([observations.reshape(len(observations), -1), *ones(observations)])
        units = np.maximum(shown @ self.numbers["hidden"], 0.0)
        units = np.column_stack([units, *ones(units)])
        return shown, units, units @ self.numbers["out"]

    def learn(self, lesson):
        shown, units, out = self.forward(lesson.observations)
        logits = np.where(lesson.legal_actions_mask, out[:, : self.actions], -1e9)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        values = np.tanh(out[:, self.actions :])
        own = values.shape[1] == 1
        missed = values - (lesson.own_values[:, None] if own else lesson.values)
        slopes = np.column_stack([policy - lesson.policy, 2 * missed * (1 - values**2)])
        slopes /= len(slopes)
        below = (slopes @ self.numbers["out"].T)[:, :-1] * (units[:, :-1] > 0)
        self.step({"out": units.T @ slopes, "hidden": shown.T @ below})
        fit = -(lesson.policy * np.log(policy + 1e-9)).sum(axis=1).mean()
        return float(fit + (missed**2).sum(axis=1).mean())

    def step(self, slopes):
        self.steps += 1
        for name, slope in slopes.items():
            mean, square = self.moments[name]
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            mean, square = mean / (1 - 0.9**self.steps), square / (1 - 0.999**self.steps)
            self.numbers[name] -= self.rate * mean / (np.sqrt(square) + 1e-8)

    def state_dict(self):
        return self.numbers

    def load_state_dict(self, state_dict):
        self.numbers = {name: np.array(each, np.float64) for name, each in state_dict.items()}


class Stubborn(Perceptron):
    """Never learns."""

    def learn(self, lesson):
        return 0.0


class Speechless(Perceptron):
    """Learns, and does not say how well."""

    def learn(self, lesson):
        super().learn(lesson)


class Diverging(Perceptron):
    """Learns once."""

    def learn(self, lesson):
        return super().learn(lesson) if self.steps == 0 else math.nan


class Failing(Perceptron):
    """Raises whenever it is asked."""

    def __call__(self, observations):
        return 1 / 0


class Probabilities(Perceptron):
    """Has a softmax at its end."""

    def __call__(self, observations):
        policy, values = super().__call__(observations)
        return np.exp(policy) / np.exp(policy).sum(axis=1, keepdims=True), values


def ones(rows):
    return [np.ones(len(rows))]


def untaught(observations):
    return np.zeros((len(observations), 9)), np.zeros(len(observations))


MADE = Perceptron((3, 3, 3), 9)
