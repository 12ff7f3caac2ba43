"""Two published experiments, played again with this package's agents.

`rave` is the curve of Gelly & Silver (2011): RAVE with several equivalence parameters k in
9x9 Go, each against one opponent that stays the same. Theirs is GNU Go; without that program it is
`uct` with more simulations. `proofs` is PN-MCTS against MCTS as Kowalski et al. (2023) count: no
openings, an equal time a move, and drawn games left out. Below stands this package's own count of
the same match: pairs of games from random openings, and a draw as half a win.

    python examples/reproduce_papers.py rave --game "go(board_size=9)" --simulations 3000 \
        --games 400 --against 'gtp(command="gnugo --mode gtp --level 10 --chinese-rules")'
    python examples/reproduce_papers.py proofs --seconds 1 --games 1000

Without arguments it plays a sample of both on small boards, in seconds, to see that the commands
work: so few games show nothing of strength. With `--cpu-time` a second is one of the processor's,
so that other programs of the machine make no difference.
"""

import pathlib
import time
from typing import Annotated

import typer

from rave_agents.arena import play_match
from rave_agents.arena.statistics import MatchScore
from rave_agents.results.numbers import interval_text, score_text

app = typer.Typer(add_completion=False)

Games = Annotated[int, typer.Option(help="Games of each match.")]
Seed = Annotated[int, typer.Option(help="Decides everything random.")]
Output = Annotated[pathlib.Path | None, typer.Option(help="Folder that keeps all games.")]


@app.callback(invoke_without_command=True)
def samples(context: typer.Context) -> None:
    """Play a sample of both, unless one of them is asked for."""
    if context.invoked_subcommand is None:
        print("A sample, to see that both commands work: so few games show nothing of strength.")
        print("docs/reproduce.md has the results, and the commands that measured them.\n")
        rave()
        print()
        proofs()


@app.command()
def rave(
    game: Annotated[str, typer.Option(help="The game.")] = "hex(board_size=6)",
    against: Annotated[str, typer.Option(help="The opponent.")] = "uct(simulations=500)",
    equivalences: Annotated[str, typer.Option(help="Values of k.")] = "0,30,300",
    simulations: Annotated[int, typer.Option(help="Simulations a move of RAVE.")] = 100,
    games: Games = 10,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Play RAVE with each k; k = 0 is UCT, since then AMAF values have no weight."""
    print(f"{game}, {simulations} simulations a move against {against}\n")
    print("| k | wins | 95 % interval | games |\n| --- | --- | --- | --- |")
    for k in equivalences.split(","):
        agent = "uct" if float(k) == 0 else f"rave(schedule=hand_selected(k={k}))"
        match = play_match(
            game,
            agent,
            against,
            simulations=simulations,
            games=games,
            seed=seed,
            output=journal(output, f"rave {k}"),
        )
        interval = interval_text(match.interval, 2)
        print(f"| {k} | {match.score.score:.2f} | {interval} | {games} |", flush=True)


@app.command()
def proofs(
    names: Annotated[str, typer.Option(help="Games.")] = "breakthrough(rows=5,columns=4)",
    agent: Annotated[str, typer.Option(help="The agent.")] = "pn_mcts_fsu",
    against: Annotated[str, typer.Option(help="Its opponent.")] = "uct",
    seconds: Annotated[float, typer.Option(help="Seconds a move.")] = 0.01,
    cpu_time: Annotated[bool, typer.Option(help="Count the processor's time.")] = False,
    games: Games = 10,
    seed: Seed = 1,
    output: Output = None,
) -> None:
    """Play PN-MCTS against MCTS, and count as the paper does and as this package does."""
    if cpu_time:
        time.perf_counter = time.process_time
    print(f"{agent} against {against}, {seconds:g} s a move\n")
    print("| game | as published | draws | games | with openings, draws half | games |")
    print("| --- | --- | --- | --- | --- | --- |")
    options = {"seconds": seconds, "games": games, "seed": seed}
    for game in names.split(";"):
        bare = play_match(
            game, agent, against, opening_plies=0, output=journal(output, f"{game} bare"), **options
        ).score
        paired = play_match(game, agent, against, output=journal(output, game), **options)
        decided = MatchScore(bare.wins, 0, bare.losses)
        print(
            f"| {game} | {score_text(decided.score, decided.interval, 2)} | {bare.draws} | "
            f"{bare.games} | {score_text(paired.score.score, paired.interval, 2)} | "
            f"{paired.score.games} |",
            flush=True,
        )


def journal(folder: pathlib.Path | None, name: str) -> pathlib.Path | None:
    """The file that keeps the games of a match, so that a second run goes on there."""
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.jsonl"


if __name__ == "__main__":
    app()
