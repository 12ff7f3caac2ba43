"""``TrainedNetwork``: a network trained by self-play, and its file.

The file holds only the network's parameters. Their code is this package's small network, or a
custom one that must be named when the file is loaded: a file executes nothing.
"""

import contextlib
import copy
import importlib
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from rave_agents.config.specs import parse_call
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.evaluators.learned_file import (
    MOST_BYTES,
    FileMatch,
    LearnedFile,
    description_in,
    read_learned,
    text_in,
)
from rave_agents.evaluators.models import function_evaluator, model_evaluator, own_code
from rave_agents.evaluators.trainable import (
    Arrays,
    NetworkSizes,
    Trainable,
    is_network,
    trainable,
)
from rave_agents.frameworks.sources import Source, find_source
from rave_agents.game.arguments import check_names
from rave_agents.game.object_names import name_of
from rave_agents.game.signatures import is_needed, parameters_of

FORMAT = 1
"""Version of the file format."""

_FORMAT_NAME = "network_format"
_STATE = "state/"
_SMALL_MODULE = "rave_agents.evaluators.small_network"  # It imports torch.

SMALL = "the small network of this package"
"""The default network's name in messages."""

_WITH_NETWORK = re.compile(r"\s*(?P<path>[^()]+\.npz)\((?P<inside>.*)\)\s*", re.DOTALL)


class NetworkMaker(NamedTuple):
    """Makes a network for a game, in this or another process."""

    source: Source | None
    """The user's class, function or network; None for ``SmallNetwork``."""
    sizes: NetworkSizes
    """The game's sizes."""
    seed: int = 0
    """Seed of a new network's parameters."""
    name: str = ""
    """The name of the network's code, with parameters; empty for this package's own."""

    @classmethod
    def of(cls, network: Any, sizes: NetworkSizes, seed: int = 0) -> Self:
        """Coerce user input to a maker, see ``train``.

        Raises:
            UnknownNameError: for an unknown name.
            TypeError: for an object that neither is nor makes a network.
        """
        if network is None:
            return cls(None, sizes, seed)
        if isinstance(network, str):
            source, name = find_source(network, "network", "my_networks:Net"), network.strip()
        else:
            source = Source(network)
            kind = network if hasattr(network, "__qualname__") else type(network)
            name = f"{kind.__module__}:{kind.__qualname__}"
        if is_network(source.value) and source.parameters:
            raise TypeError(f"{name} is already a network: it takes no parameters.")
        if not (is_network(source.value) or callable(source.value)):
            trainable(source.value, sizes)  # Raises with the missing methods.
        return cls(source, sizes, seed, name)

    def make(self) -> Any:
        """Make the network: a torch module or another trainable object."""
        source = self.source
        if source is None:
            source = Source(importlib.import_module(_SMALL_MODULE).SmallNetwork)
        with seeded(self.seed):
            if is_network(source.value):  # The user's own object stays as it is.
                return copy.deepcopy(source.value)
            arguments = self._arguments(source)
            text = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            with own_code(f"{_name_of(source)}({text}) fails"):
                return source.value(**arguments)

    def _arguments(self, source: Source) -> dict[str, Any]:
        """Arguments for a class or function: the given ones, and the sizes its parameters ask for.

        Raises:
            UnknownNameError: for an unknown parameter.
            TypeError: if it needs other arguments.
        """
        name = _name_of(source)
        takes = parameters_of(source.value) or {}
        found = dict(source.parameters)
        if not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
            check_names(f"parameter of {name}", found, takes, UnknownNameError)
        available = {**self.sizes._asdict(), "seed": self.seed}
        # Parameters of other names get the shape and the number of actions, in this order.
        unnamed = [
            available[field] for field in ("observation_shape", "num_actions") if field not in takes
        ]
        for each in takes.values():
            if each.name in found:
                continue
            if each.name in available:
                found[each.name] = available[each.name]
            elif is_needed(each):
                if not unnamed:
                    raise TypeError(
                        f"{name} needs {each.name}: a network gets the shape of observations and "
                        f"the number of actions, and by name any of {', '.join(available)}."
                    )
                found[each.name] = unnamed.pop(0)
        return found

    def trained(
        self, arrays: Arrays, game: str, made: str = "", match: FileMatch | None = None
    ) -> "TrainedNetwork":
        """A network with these parameters.

        Raises:
            ValueError: if they do not fit.
        """
        network = self.make()
        load_arrays(trainable(network, self.sizes), arrays, self.name or SMALL)
        return TrainedNetwork(network, self, game=game, made=made, match=match)


def _name_of(source: Source) -> str:
    return name_of(source.value)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's and torch's global random numbers during a ``with`` statement."""
    torch: Any = sys.modules.get("torch")
    # Networks of users may draw from the global generators, which are restored afterwards.
    before = np.random.get_state()
    np.random.seed(seed % (1 << 32))
    try:
        if torch is None:
            yield
        else:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                yield
    finally:
        np.random.set_state(before)


class TrainedNetwork(BatchEvaluator, LearnedFile):
    """A network trained by self-play; ``evaluator=`` accepts it or its file.

    Args:
        network: a torch module, or another network for ``train``.
        maker: its maker.
        game: the game that it was trained on, as text.
        made: a line on how it was trained.
        match: the match of an agent with it against one without it; None if not measured.
    """

    kind = "network"

    def __init__(
        self,
        network: Any,
        maker: NetworkMaker,
        *,
        game: str,
        made: str = "",
        match: FileMatch | None = None,
    ) -> None:
        inner = model_evaluator(network) or function_evaluator(network)
        BatchEvaluator.__init__(self, inner.function, clip=True)
        LearnedFile.__init__(self, game, made, match)
        self.network: Any = network
        """The network itself."""
        self.sizes: NetworkSizes = maker.sizes
        """The sizes of the game that it was trained on."""
        self._maker = maker

    def __call__(self, batch: Batch) -> Any:
        """Evaluate a batch.

        Raises:
            UnsupportedGameError: for positions of another game.
        """
        shape, actions = batch.observations.shape[1:], batch.legal_actions_mask.shape[1]
        if (shape, actions) != (self.sizes.observation_shape, self.sizes.num_actions):
            raise UnsupportedGameError(
                f"This network was trained on {self.game}, with observations "
                f"{self.sizes.observation_shape} and {self.sizes.num_actions} actions: it does not "
                f"fit a game with observations {shape} and {actions} actions."
            )
        return self.function(batch)

    def state_dict(self) -> Arrays:
        """The network's parameters, by name."""
        return trainable(self.network, self.sizes).state_dict()

    def spec(self, path: str | os.PathLike[str]) -> str:
        """The text to pass as ``evaluator=`` for its file."""
        name = self._maker.name
        return f"{os.fspath(path)}(network={name})" if name else os.fspath(path)

    def arrays(self) -> dict[str, Any]:
        """The content of its file.

        Raises:
            TypeError, ValueError: for parameters that are not numbers, or too many.
        """
        state = {name: np.asarray(each) for name, each in self.state_dict().items()}
        for name, array in state.items():
            if array.dtype.kind not in "biuf":
                raise TypeError(f"The network's {name!r} must hold numbers, not {array.dtype}.")
        # Half, so that the reader's limit holds with all that numpy adds.
        if sum(each.nbytes for each in state.values()) > MOST_BYTES // 2:
            raise ValueError(f"A network's file may have at most {MOST_BYTES // 2} bytes.")
        return {
            _FORMAT_NAME: FORMAT,
            **self.description(),
            "network": self._maker.name,
            **self.sizes._asdict(),
            "observation_shape": np.array(self.sizes.observation_shape, np.int64),
            "utilities": np.array(self.sizes.utilities, np.float64),
            **{_STATE + name: array for name, array in state.items()},
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], network: Any = None) -> "TrainedNetwork":
        """Read its file.

        Args:
            path: the file.
            network: the trained network, in the form given to ``train``; None for the small one.

        Raises:
            OSError: if there is no such file.
            ValueError: if it is not a trained network, or belongs to another network.
        """
        sizes, name, described, state = read_learned(
            path, "trained network", _content_of, command="train"
        )
        if network is None and name:
            path = os.fspath(path)
            raise ValueError(
                f"{path!r} has the parameters of {name}, but files run no code: name the network, "
                f'as in evaluator="{path}(network={name})".'
            )
        return NetworkMaker.of(network, sizes).trained(state, **described)


def _content_of(arrays: Arrays) -> tuple[NetworkSizes, str, dict[str, Any], Arrays]:
    """The sizes, the network's name, the description and the parameters of a file."""
    state = {
        key.removeprefix(_STATE): array for key, array in arrays.items() if key.startswith(_STATE)
    }
    return _sizes_of(arrays), text_in(arrays, "network"), description_in(arrays), state


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """True for a file of a trained network, intact or not."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_FORMAT_NAME}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def named_network(text: str) -> TrainedNetwork | None:
    """The network named by ``FILE`` or ``FILE(network=module:Net)``; None for other texts.

    Raises:
        OSError: if there is no such file.
        TypeError: for another parameter than ``network``.
        ValueError: see ``TrainedNetwork.load``.
    """
    match = _WITH_NETWORK.fullmatch(text)
    if match is None:
        return TrainedNetwork.load(text) if is_network_file(text) else None
    path = match["path"].strip()
    parameters = parse_call(f"evaluator({match['inside']})")[1]
    check_names(f"parameter of {path}", parameters, ("network",))
    if not os.path.exists(path):
        raise FileNotFoundError(f"evaluator={text!r}: there is no file {path!r}.")
    return TrainedNetwork.load(path, parameters.get("network"))


def load_arrays(network: Trainable, arrays: Arrays, name: str) -> None:
    """Load these parameters into a network.

    Raises:
        ValueError: if they do not fit the network.
    """
    own = {key: np.asarray(each).shape for key, each in network.state_dict().items()}
    given = {key: each.shape for key, each in arrays.items()}
    if own != given:
        wrong = sorted(key for key in {*own, *given} if own.get(key) != given.get(key))[:3]
        differences = "; ".join(f"{key}: {given.get(key)} for {own.get(key)}" for key in wrong)
        raise ValueError(f"The parameters do not fit {name}: {differences}.")
    for key, each in arrays.items():
        if each.dtype.kind == "f" and not np.isfinite(each).all():
            raise ValueError(f"The parameters {key} are not finite.")
    network.load_state_dict(arrays)


def _sizes_of(arrays: Arrays) -> NetworkSizes:
    if arrays[_FORMAT_NAME].tolist() != FORMAT:
        raise ValueError("it has another format")
    shape, utilities = arrays["observation_shape"], arrays["utilities"]
    numbers = [arrays[name] for name in ("num_actions", "num_players", "num_values")]
    fits = (
        shape.ndim == 1
        and shape.dtype.kind == "i"
        and (shape >= 0).all()
        and all(each.ndim == 0 and each.dtype.kind == "i" and each >= 1 for each in numbers)
        and utilities.shape == (2,)
        and utilities.dtype.kind == "f"
        and np.isfinite(utilities).all()
        and utilities[0] < utilities[1]
    )
    if not fits:
        raise ValueError("its sizes are not those of a game")
    actions, players, values = (int(each) for each in numbers)
    low, high = utilities.tolist()
    return NetworkSizes(tuple(shape.tolist()), actions, players, values, (low, high))
