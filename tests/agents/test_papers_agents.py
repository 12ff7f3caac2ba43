"""A name is a promise: an agent of a paper's name is that algorithm behind every door.

Connect Four and breakthrough have shipped values, which ``auto`` uses and the others do not.
"""

import gymnasium
import pyspiel
import pytest
import rave_openspiel
import rave_pettingzoo
from helpers.envs import begun
from open_spiel.python import rl_environment
from pettingzoo.classic import connect_four_v3
from rave_openspiel.policy import SearchPolicy
from rave_openspiel.rl_agent import SearchRLAgent

import rave_agents
from rave_agents import Limit, SearchConfig, Searcher, as_game, make_agent
from rave_agents.analysis.position_analysis import analyse
from rave_agents.arena.match import play_match
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.engines.uci_engine import UciEngine
from rave_agents.searcher.kept_trees import KeptTrees

PAPERS = [
    name
    for name in SearchConfig.preset_names()
    if name not in ("auto", "regret_matching", "exp3")  # They need simultaneous moves.
]
SIMULATIONS = 8


def start():
    return pyspiel.load_game("connect_four").new_initial_state()


def bot(name):
    params = {"simulations": SIMULATIONS, "seed": 1}
    return rave_openspiel.load_bot(name, start().get_game(), 0, params)


def rl_agent(name, spec):
    env = rl_environment.Environment("connect_four", include_full_state=True)
    agent = SearchRLAgent(0, 7, env.game, spec)
    agent.step(env.reset())


def pettingzoo(name, spec):
    env = begun(connect_four_v3.env())
    rave_pettingzoo.make_agent(spec, env)(env)


def opponent(name, spec):
    env = gymnasium.make("rave_gymnasium:Opponent-v0", game="connect_four", opponent=spec, seat=1)
    env.reset(seed=1)


def opponents(name, spec):
    env = gymnasium.make_vec(
        "rave_gymnasium:Opponent-v0",
        num_envs=2,
        vectorization_mode="vector_entry_point",
        game="connect_four",
        opponent=spec,
        seat=1,
    )
    env.reset(seed=1)


def uci(name, spec):
    engine = UciEngine("breakthrough", spec, seed=1)
    for line in ("position startpos", f"go nodes {SIMULATIONS}"):
        engine.receive(line)
    engine.close()


def page(name, spec):
    game = rave_agents.play("connect_four", spec, seat=1, page=False, seed=1)
    game.wait()
    game.close()


DOORS = {
    "make_agent": lambda name, spec: make_agent(spec, "connect_four", 0).step(start()),
    "bot": lambda name, spec: bot(name).step(start()),
    "policy": lambda name, spec: SearchPolicy(bot(name)).action_probabilities(start()),
    "rl_agent": rl_agent,
    "pettingzoo": pettingzoo,
    "Opponent-v0": opponent,
    "Opponent-v0, vector": opponents,
    "GTP": lambda name, spec: GtpEngine("connect_four", spec, seed=1).answer("genmove b"),
    "UCI": uci,
    "play": page,
    "match": lambda name, spec: play_match(
        "connect_four", spec, "random", games=1, opening_plies=36, progress=False
    ),
    "analyse": lambda name, spec: analyse("connect_four", spec),
}


@pytest.fixture
def searched(monkeypatch):
    """What took part in every search, once it has any simulation."""
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
    seen, choose, result_of = [], Searcher.choose, KeptTrees.result

    def chosen(self, *given, **named):
        action = choose(self, *given, **named)
        assert self.last_result is not None
        return action

    def result(self, root):
        result = result_of(self, root)
        if result.simulations:
            seen.append(result.took_part)
        return result

    monkeypatch.setattr(Searcher, "choose", chosen)
    monkeypatch.setattr(KeptTrees, "result", result)
    return seen


def took_part(name, game):
    searcher = Searcher(SearchConfig.preset(name), seed=1)
    return searcher.search(
        as_game(game).new_initial_state(), Limit(simulations=SIMULATIONS)
    ).took_part


def spec_of(name):
    return f"{name}(simulations={SIMULATIONS},seed=1)"


@pytest.mark.full(but=["rave-bot", "uct-Opponent-v0", "pn_mcts-pettingzoo", "grave-UCI"])
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", PAPERS)
def test_an_agent_of_a_paper_has_nothing_that_is_shipped(name, door, searched):
    DOORS[door](name, spec_of(name))
    seen = set(searched)
    assert seen == {took_part(name, "breakthrough" if door == "UCI" else "connect_four")}
    assert not any(word.startswith(("learned", "cut", "pattern")) for word in seen.pop())


@pytest.mark.full(but=["bot", "UCI"])
@pytest.mark.parametrize("door", [door for door in DOORS if door != "pettingzoo"])
def test_the_same_doors_give_auto_what_is_shipped(door, searched):
    """In PettingZoo's environments nothing shipped fits, as their states have no compiled rules."""
    DOORS[door]("auto", spec_of("auto"))
    assert any(word.startswith("learned") for words in searched for word in words)
