"""Checks that agents do not see what is hidden, by pairs of positions that look the same.

python examples/look_alikes.py [GAME ...] [--agents auto uct] [--depths 2 8 20] [--pairs 4]

Two positions are a pair if the player to move has the same information at both: the same views,
legal actions and own actions at every decision. An agent that does not cheat plays both alike: with
the same seed, it gives the same probabilities and draws the same action. The second position comes
from a Markov chain over consistent histories that starts at the first one, so pairs exist even
where the agent's own worlds would be wrong; each pair is checked by replaying both histories.

In PettingZoo's card games the positions of a pair are worlds dealt with different seeds.

For each game and agent the table shows the number of pairs, and the number at which the agent's
first three worlds, its probabilities, or its action differ.
"""

import argparse
import importlib.util
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyspiel
from rave_openspiel.history_chain import HistoryChain
from rave_openspiel.knowledge import Knowledge
from rave_openspiel.support import hides_information, refusal, registered_games
from rave_openspiel.worlds import no_worlds, view, world_source
from rave_pettingzoo import AECState, AutoAgent, RaveAgent, UCTAgent

from rave_agents import make_agent

ENVIRONMENTS = (
    "hanabi_v5",
    "gin_rummy_v4",
    "leduc_holdem_v4",
    "texas_holdem_v4",
    "texas_holdem_no_limit_v6",
)
"""PettingZoo's games with hidden information; those that are not installed are left out."""

VARIANTS = (
    "kuhn_poker(players=3)",
    "leduc_poker(players=3)",
    "leduc_poker(suit_isomorphism=True)",
    "liars_dice(numdice=2)",
    "liars_dice(players=3)",
    "goofspiel(imp_info=True,num_cards=6)",
    "go_fish(players=3)",
    "crazy_eights(players=3)",
    "oh_hell(players=4,num_suits=4,num_cards_per_suit=13,num_tricks_fixed=5)",
    "oh_hell(num_suits=2,num_cards_per_suit=4)",
    "hearts(pass_cards=false)",
    "cribbage(players=3)",
    "dark_hex(board_size=4)",
    "phantom_go(board_size=5)",
    "universal_poker(numPlayers=3,numRounds=1,blind=1 2 0,raiseSize=2,firstPlayer=1,maxRaises=2,"
    "numSuits=2,numRanks=6,numHoleCards=1,numBoardCards=0,stack=20 20 20)",
    "gin_rummy(num_ranks=5,num_suits=2,hand_size=3,knock_card=6)",
    "hanabi(players=3)",
    "tiny_bridge_4p",
)
"""Games with other parameters than the default ones."""

PROPOSALS = 300
"""Steps of the chain from one position of a pair to the other."""

WORLDS = 3
"""First worlds of each position that are compared."""


class Pair(NamedTuple):
    """Two positions at which the player to move has the same information."""

    one: pyspiel.State
    other: pyspiel.State


def pairs(name: str, depths: Sequence[int], count: int, draw: random.Random) -> Iterator[Pair]:
    """Draw pairs: up to ``count`` at each depth, a number of players' moves."""
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    for depth in depths:
        found = 0
        for _ in range(3 * count):
            one = position(game, depth, draw)
            other = one and look_alike(one, draw)
            if one and other:
                found += 1
                yield Pair(one, other)
                if found == count:
                    break


def position(game: pyspiel.Game, depth: int, draw: random.Random) -> pyspiel.State | None:
    """Play random moves; return a position with a choice, or None if the game ends first."""
    state = game.new_initial_state()
    while not state.is_terminal():
        legal = state.legal_actions()
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(draw.choices(outcomes, weights)[0])
        elif depth <= 0 and len(legal) > 1:
            return state
        else:
            depth -= 1
            state.apply_action(draw.choice(legal))
    return None


def look_alike(state: pyspiel.State, draw: random.Random) -> pyspiel.State | None:
    """Return another position with the same information; None if none was found."""
    player = state.current_player()
    knowledge = Knowledge(state, player)
    chain = HistoryChain(knowledge, draw.random)
    chain.learn_sites(knowledge.truth)
    other = chain.advance(knowledge.truth, PROPOSALS).states[-1].clone()
    if other.history() == state.history():
        return None
    assert information(other, player) == information(state, player)
    return other


def information(state: pyspiel.State, player: int) -> list[object]:
    """The views, legal actions and actions of a player at all their decisions."""
    found: list[object] = []
    now = state.get_game().new_initial_state()
    for move in state.full_history():
        if now.current_player() == player:
            found.append((view(now, player), now.legal_actions(), move.action))
        now.apply_action(move.action)
    return [*found, view(state, player), state.legal_actions()]


def worlds(state: pyspiel.State, simulations: int, seed: int) -> list[str]:
    """The texts of the first worlds."""
    source = world_source(state, state.current_player(), random.Random(seed).random)
    if hasattr(source, "begin"):
        source.begin(simulations, float("inf"))
    return [str(source()) for _ in range(WORLDS)]


def answer(agent: str, state: pyspiel.State, simulations: int, seed: int) -> object:
    """The probabilities and the action of a new agent."""
    limits = {"simulations": simulations, "seed": seed}
    made = make_agent(agent, state.get_game(), state.current_player(), **limits)
    if hasattr(made, "step_with_policy"):
        return made.step_with_policy(state.clone())
    return made.step(state.clone())


def environment_pairs(
    name: str, depths: Sequence[int], count: int, draw: random.Random
) -> Iterator[tuple[Any, Any]]:
    """Draw pairs of environments: ``count`` at each depth, unless the game has ended."""
    module = importlib.import_module(f"pettingzoo.classic.{name}")
    for depth in depths:
        for _ in range(count):
            env = module.env()
            env.reset(seed=draw.randrange(1000))
            env.action_space(env.agent_selection).seed(draw.randrange(1000))
            for _ in range(depth):
                if any(env.last()[2:4]):
                    break
                env.step(draw.choice(AECState(env).legal_actions()))
            if any(env.last()[2:4]):
                continue
            state = AECState(env)
            world = state.worlds(state.current_player(), draw.random)
            yield world().env, world().env


def environment_answer(agent: str, env: Any, simulations: int, seed: int) -> object:
    """The probabilities and the action of a new agent."""
    made = {"uct": UCTAgent, "rave": RaveAgent, "auto": AutoAgent}[agent](
        env, simulations=simulations, seed=seed
    )
    action = made.act(env.last()[0])
    return action, None if made.last_result is None else made.last_result.policy


def compared_environments(name: str, agents: Sequence[str], options: argparse.Namespace) -> None:
    """Print the line of an environment."""
    draw, started, count = random.Random(options.seed), time.process_time(), 0
    different = dict.fromkeys(agents, 0)
    for number, pair in enumerate(environment_pairs(name, options.depths, options.pairs, draw)):
        count += 1
        for agent in agents:
            one, other = (
                environment_answer(agent, env, options.simulations, number) for env in pair
            )
            different[agent] += one != other
        if time.process_time() - started > options.seconds:
            break
    cells = " | ".join(str(each) for each in different.values())
    print(f"| {name} | {count} | | {cells} | {time.process_time() - started:.1f} |", flush=True)


def compared(name: str, agents: Sequence[str], options: argparse.Namespace) -> None:
    """Print a line for each agent: the pairs of a game, and those that an agent tells apart."""
    draw = random.Random(options.seed)
    started, count = time.process_time(), 0
    different = dict.fromkeys(["worlds", *agents], 0)
    for number, pair in enumerate(pairs(name, options.depths, options.pairs, draw)):
        count += 1
        one, other = (worlds(state, options.simulations, number) for state in pair)
        different["worlds"] += one != other
        for agent in agents:
            one, other = (answer(agent, state, options.simulations, number) for state in pair)
            different[agent] += one != other
        if time.process_time() - started > options.seconds:
            break
    seconds = time.process_time() - started
    cells = " | ".join(str(each) for each in different.values())
    print(f"| {name} | {count} | {cells} | {seconds:.1f} |", flush=True)


def hidden_games() -> list[str]:
    """The games with hidden information that have worlds, with their default parameters."""
    kinds = sorted(registered_games(), key=lambda kind: kind.short_name)
    names = [
        kind.short_name
        for kind in kinds
        if hides_information(kind) and kind.default_loadable and refusal(kind) is None
    ]
    return [name for name in names if no_worlds(pyspiel.load_game(name)) is None]


def main() -> None:
    """Compare agents at pairs of positions."""
    parser = argparse.ArgumentParser(description="Look for agents that see what is hidden.")
    parser.add_argument("games", nargs="*", help="default: all with hidden information")
    parser.add_argument("--agents", nargs="*", default=["auto"])
    parser.add_argument("--depths", nargs="*", type=int, default=[1, 5, 12, 25])
    parser.add_argument("--pairs", type=int, default=4, help="pairs at each depth")
    parser.add_argument("--simulations", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds for each game")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"| game | pairs | worlds | {' | '.join(options.agents)} | CPU s |")
    print(f"|---|{'---|' * (len(options.agents) + 3)}")
    for name in options.games or [*hidden_games(), *VARIANTS, *ENVIRONMENTS]:
        if name not in ENVIRONMENTS:
            compared(name, options.agents, options)
        elif importlib.util.find_spec(f"pettingzoo.classic.{name}") is not None:
            compared_environments(name, options.agents, options)


if __name__ == "__main__":
    main()
