"""The match that ends learning: played, recorded in the file, and warned of where it was lost."""

import warnings

import numpy as np
import pytest

from rave_agents import LinearValue, as_evaluator, make_agent
from rave_agents.evaluators import learned_file
from rave_agents.evaluators.learned_file import FileMatch
from rave_agents.evaluators.move_features import NUMBERS
from rave_agents.evaluators.move_policy import MovePolicy
from rave_agents.evaluators.trainable import NetworkSizes
from rave_agents.evaluators.trained_network import NetworkMaker, TrainedNetwork
from rave_agents.learning import to_file
from rave_agents.learning.to_file import learn_to_file, train_to_file

LOST = FileMatch(40, 0.2, 0.105, 0.348, "auto(known=False,simulations=100)")
EVEN = FileMatch(40, 0.45, 0.307, 0.602, "auto(known=False,simulations=100)")
FEW = {"games": 4, "rounds": 1, "simulations": 4, "progress": False}


class Equal:
    """A network that values all moves and positions alike, and learns nothing."""

    def __call__(self, observations, mask):
        return np.zeros(mask.shape), np.zeros(len(mask))

    def learn(self, lesson):
        return 1.0

    def state_dict(self):
        return {"zeros": np.zeros(1)}

    def load_state_dict(self, arrays):
        pass


def value():
    weights = np.zeros((2, 1, 28), np.float32)
    return LinearValue("tic_tac_toe()", weights, utilities=(-1.0, 1.0), utility_sum=0.0)


def policy():
    return MovePolicy("tic_tac_toe()", np.zeros(NUMBERS, np.float32))


def network():
    sizes = NetworkSizes((3, 3, 3), 9, 2, 1, (-1.0, 1.0))
    return TrainedNetwork(Equal(), NetworkMaker.of(Equal, sizes), game="tic_tac_toe")


KINDS = [value, policy, network]


@pytest.fixture(autouse=True)
def _nothing_warned_of(monkeypatch):
    monkeypatch.setattr(learned_file, "_warned", set())


def written(kind, match, path):
    """The text for ``evaluator=`` of a file with this record, and the class that loads it."""
    learned = kind()
    learned.match = match
    learned.save(path)
    return learned.spec(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_lost_its_match_is_warned_of_once(kind, tmp_path):
    text = written(kind, LOST, tmp_path / "learned.npz")
    with pytest.warns(UserWarning, match=r"makes the agent weaker: it scored 0\.20 .* in 40 games"):
        assert as_evaluator(text).match == LOST
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_evaluator(text)


@pytest.mark.parametrize("match", [EVEN, None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_did_not_lose_or_was_not_measured_is_taken_silently(kind, match, tmp_path):
    text = written(kind, match, tmp_path / "learned.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_evaluator(text).match == match


def test_an_agent_that_is_given_the_file_warns(tmp_path):
    text = written(policy, LOST, tmp_path / "learned.npz")
    with pytest.warns(UserWarning, match="The learned policy for tic_tac_toe"):
        make_agent(f"auto(evaluator={text},simulations=4)", "tic_tac_toe", seed=1)


def test_a_value_loaded_by_hand_warns(tmp_path):
    written(value, LOST, tmp_path / "learned.npz")
    learned = LinearValue.load(tmp_path / "learned.npz")
    with pytest.warns(UserWarning, match="The learned value for tic_tac_toe"):
        make_agent("uct", "tic_tac_toe", evaluator=learned, seed=1)


@pytest.mark.parametrize(
    "record", [[40.0, 0.2], [0.0, 0.2, 0.1, 0.3], [40.0, 0.2, 0.3, 0.4], [40.0, np.nan, 0.1, 0.3]]
)
def test_a_record_that_no_match_gives_is_refused(record, tmp_path):
    path = tmp_path / "learned.npz"
    policy().save(path)
    arrays = dict(np.load(path)) | {"match": np.array(record)}
    np.savez_compressed(path, **arrays)
    with pytest.raises(ValueError, match="its match is"):
        MovePolicy.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["value", "policy"])
def test_learning_ends_with_a_match_that_the_file_records(what, tmp_path, monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "compiled")
    monkeypatch.setattr(to_file, "MATCH_GAMES", 2)
    monkeypatch.setattr(to_file, "CHECK_SIMULATIONS", 4)
    path = tmp_path / "learned.npz"
    result = learn_to_file("tic_tac_toe", path, what=what, **FEW)
    assert result.match.games == 2
    assert result.match.against == "auto(known=False,simulations=4)"
    assert as_evaluator(path).match == result.match
    assert "With the file the agent scored" in " ".join(str(result).split())
    assert not result.checks


def test_training_ends_with_a_match_that_the_file_records(tmp_path, monkeypatch):
    monkeypatch.setattr(to_file, "MATCH_GAMES", 2)
    monkeypatch.setattr(to_file, "CHECK_SIMULATIONS", 4)
    path = tmp_path / "net.npz"
    result = train_to_file("tic_tac_toe", path, Equal, **FEW)
    assert TrainedNetwork.load(path, Equal).match == result.match
    assert result.match.against == "uct(simulations=4)"


def test_without_checks_nothing_is_measured(tmp_path):
    path = tmp_path / "net.npz"
    result = train_to_file("tic_tac_toe", path, Equal, checks=0, **FEW)
    assert TrainedNetwork.load(path, Equal).match is None
    assert "Its strength is not measured." in " ".join(str(result).split())
    assert result.to_dict()["match"] is None


@pytest.mark.slow
def test_a_game_of_three_players_is_not_measured(tmp_path):
    result = learn_to_file("kuhn_poker(players=3)", tmp_path / "value.npz", **FEW)
    assert result.match is None
