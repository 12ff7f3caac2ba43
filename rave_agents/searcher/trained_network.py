"""``TrainedNetwork``: a network that self-play has trained, and its file.

The file holds the network's numbers alone. The code that they are for is this package's own small
network, or one of the user's, which whoever loads the file has to name: a file runs nothing.
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
from rave_agents.files import written_whole
from rave_agents.frameworks.sources import Source, find_source
from rave_agents.game.arguments import check_names
from rave_agents.game.signatures import is_needed, parameters_of
from rave_agents.knowledge.array_file import MOST_BYTES, read_arrays, text_in
from rave_agents.knowledge.file_match import FileMatch, match_arrays, match_in
from rave_agents.searcher.models import function_evaluator, model_evaluator, own_code
from rave_agents.searcher.trainable import (
    Arrays,
    NetworkSizes,
    Trainable,
    is_network,
    trainable,
)

FORMAT = 1
"""The number of the files' format."""

_FORMAT_NAME = "network_format"
_STATE = "state/"
_SMALL_MODULE = "rave_agents.searcher.small_network"  # It imports torch.

SMALL = "the small network of this package"
"""The network's name in messages where none is given."""

_WITH_NETWORK = re.compile(r"\s*(?P<path>[^()]+\.npz)\((?P<inside>.*)\)\s*", re.DOTALL)


class NetworkMaker(NamedTuple):
    """Makes a network for a game, in this process or another."""

    source: Source | None
    """The user's class, function or network; None for ``SmallNetwork``."""
    sizes: NetworkSizes
    """The game's."""
    seed: int = 0
    """Decides the numbers of a new network."""
    name: str = ""
    """The place of the network's code, with parameters; empty for this package's own."""

    @classmethod
    def of(cls, network: Any, sizes: NetworkSizes, seed: int = 0) -> Self:
        """The maker for whatever a user gives, see ``train``.

        Raises:
            UnknownNameError: for a name that leads nowhere.
            TypeError: for what is no network and makes none.
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
            raise TypeError(f"{name} is a network, made already: it takes no parameters.")
        if not (is_network(source.value) or callable(source.value)):
            trainable(source.value, sizes)  # Says what it lacks.
        return cls(source, sizes, seed, name)

    def make(self) -> Any:
        """A network: a module of torch, or another that can be trained."""
        source = self.source
        if source is None:
            source = Source(importlib.import_module(_SMALL_MODULE).SmallNetwork)
        with seeded(self.seed):
            if is_network(source.value):
                return copy.deepcopy(source.value)
            arguments = self._arguments(source)
            told = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            with own_code(f"{_name_of(source)}({told}) fails"):
                return source.value(**arguments)

    def _arguments(self, source: Source) -> dict[str, Any]:
        """Arguments for a class or a function: those given, and what its parameters ask for.

        Raises:
            UnknownNameError: for a parameter that it does not have.
            TypeError: if it needs more.
        """
        name = _name_of(source)
        takes = parameters_of(source.value) or {}
        found = dict(source.parameters)
        if not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
            check_names(f"parameter of {name}", found, takes, UnknownNameError)
        told = {**self.sizes._asdict(), "seed": self.seed}
        unnamed = [
            told[field] for field in ("observation_shape", "num_actions") if field not in takes
        ]
        for each in takes.values():
            if each.name in found:
                continue
            if each.name in told:
                found[each.name] = told[each.name]
            elif is_needed(each):
                if not unnamed:
                    raise TypeError(
                        f"{name} needs {each.name}: a network is made of the shape of "
                        f"observations and the number of actions, and by name of {', '.join(told)}."
                    )
                found[each.name] = unnamed.pop(0)
        return found

    def trained(
        self, arrays: Arrays, game: str, made: str = "", match: FileMatch | None = None
    ) -> "TrainedNetwork":
        """A network with these numbers.

        Raises:
            ValueError: if they do not fit.
        """
        network = self.make()
        load_arrays(trainable(network, self.sizes), arrays, self.name or SMALL)
        return TrainedNetwork(network, self, game=game, made=made, match=match)


def _name_of(source: Source) -> str:
    return str(getattr(source.value, "__name__", type(source.value).__name__))


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Meanwhile NumPy's and torch's common random numbers come from a seed; then as before."""
    torch: Any = sys.modules.get("torch")
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


class TrainedNetwork(BatchEvaluator):
    """A network that self-play has trained; ``evaluator=`` takes it, or its file.

    Args:
        network: a module of torch, or another that ``train`` takes.
        maker: what made it.
        game: the game that it was trained on, as text.
        made: a line that tells how it was trained.
        match: the match of an agent with it against one without; None if it was not measured.
    """

    kind = "network"
    """The kind of what was learned."""

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
        super().__init__(inner.function, clip=True)
        self.network: Any = network
        """The network itself."""
        self.sizes: NetworkSizes = maker.sizes
        """Sizes of the game that it was trained on."""
        self.game = game
        self.made = made
        self.match = match
        self._maker = maker

    def __call__(self, batch: Batch) -> Any:
        """Ask the network.

        Raises:
            UnsupportedGameError: about positions of another game.
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
        """The network's numbers, by name."""
        return trainable(self.network, self.sizes).state_dict()

    def spec(self, path: str | os.PathLike[str]) -> str:
        """The text that ``evaluator=`` takes for its file."""
        name = self._maker.name
        return f"{os.fspath(path)}(network={name})" if name else os.fspath(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file of NumPy's format npz."""
        arrays = {name: np.asarray(each) for name, each in self.state_dict().items()}
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise TypeError(f"The network's {name!r} holds no numbers, but {array.dtype}.")
        if sum(each.nbytes for each in arrays.values()) > MOST_BYTES // 2:
            raise ValueError(f"A network's file may have {MOST_BYTES // 2} bytes.")
        told: dict[str, Any] = {
            _FORMAT_NAME: FORMAT,
            "game": self.game,
            "network": self._maker.name,
            "made": self.made,
            **match_arrays(self.match),
            **self.sizes._asdict(),
            "observation_shape": np.array(self.sizes.observation_shape, np.int64),
            "utilities": np.array(self.sizes.utilities, np.float64),
            **{_STATE + name: array for name, array in arrays.items()},
        }
        with written_whole(path) as file:
            np.savez_compressed(file, allow_pickle=False, **told)

    @classmethod
    def load(cls, path: str | os.PathLike[str], network: Any = None) -> "TrainedNetwork":
        """Read what ``save`` has written.

        Args:
            path: the file.
            network: the network that was trained, as ``train`` took it; None for the small one.

        Raises:
            OSError: if there is no such file.
            ValueError: if it is not a trained network, or one of another network's.
        """
        path = os.fspath(path)
        try:
            arrays = read_arrays(path)
            sizes, name = _sizes_of(arrays), text_in(arrays, "network")
            game, made = text_in(arrays, "game"), text_in(arrays, "made")
            match = match_in(arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path!r} is not a trained network, as rave-agents train writes: {error}."
            ) from error
        if network is None and name:
            raise ValueError(
                f"{path!r} has the numbers of {name}, whose code no file runs: name it, "
                f'such as evaluator="{path}(network={name})".'
            )
        state = {
            key.removeprefix(_STATE): array
            for key, array in arrays.items()
            if key.startswith(_STATE)
        }
        return NetworkMaker.of(network, sizes).trained(state, game, made, match)


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """True for a file of a trained network, whole or not."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_FORMAT_NAME}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def named_network(text: str) -> TrainedNetwork | None:
    """The network that ``FILE`` or ``FILE(network=module:Net)`` names; None for any other text.

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
    """Give a network these numbers.

    Raises:
        ValueError: if they are not those of such a network.
    """
    own = {key: np.asarray(each).shape for key, each in network.state_dict().items()}
    given = {key: each.shape for key, each in arrays.items()}
    if own != given:
        wrong = sorted(key for key in {*own, *given} if own.get(key) != given.get(key))[:3]
        told = "; ".join(f"{key}: {given.get(key)} for {own.get(key)}" for key in wrong)
        raise ValueError(f"The numbers do not fit {name}: {told}.")
    for key, each in arrays.items():
        if each.dtype.kind == "f" and not np.isfinite(each).all():
            raise ValueError(f"The numbers of {key} are not finite.")
    network.load_state_dict(arrays)


def _sizes_of(arrays: Arrays) -> NetworkSizes:
    """Read the sizes of a game from a file's arrays."""
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
        raise ValueError("its sizes are none of a game")
    actions, players, values = (int(each) for each in numbers)
    low, high = utilities.tolist()
    return NetworkSizes(tuple(shape.tolist()), actions, players, values, (low, high))
