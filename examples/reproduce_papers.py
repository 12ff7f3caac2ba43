"""Two published experiments, played again with this package's agents.

`rave` is the curve of Gelly & Silver (2011): RAVE with several equivalence parameters k in
9x9 Go, each against one opponent that stays the same. Theirs is GNU Go; without that program it is
`uct` with more simulations. `proofs` is PN-MCTS against MCTS as Kowalski et al. (2023) count: no
openings, an equal time a move, and drawn games left out. Below stands this package's own count of
the same match: pairs of games from random openings, and a draw as half a win.

    python examples/reproduce_papers.py rave --simulations 3000 --games 400 \
        --against 'gtp(command="gnugo --mode gtp --level 10 --chinese-rules")'
    python examples/reproduce_papers.py proofs --seconds 1 --games 1000

Without arguments it plays samples of both on small boards, in seconds. With `--cpu-time` a second
is one of the processor's, so that other programs of the machine make no difference.
"""

import pathlib
import time
from typing import Annotated

import typer

from rave_agents.arena import play_match
from rave_agents.arena.statistics import score_interval

app = typer.Typer(add_completion=False)

Games = Annotated[int, typer.Option(help="Games of each match.")]
Seed = Annotated[int, typer.Option(help="Decides everything random.")]
Output = Annotated[pathlib.Path | None, typer.Option(help="Folder that keeps all games.")]


@app.callback(invoke_without_command=True)
def samples(context: typer.Context) -> None:
    """Play a sample of both, unless one of them is asked for."""
    if context.invoked_subcommand is None:
        rave()
        proofs()


@app.command()
def rave(
    game: Annotated[str, typer.Option(help="The game.")] = "go(board_size=5)",
    against: Annotated[str, typer.Option(help="The opponent.")] = "uct(simulations=50)",
    equivalences: Annotated[str, typer.Option(help="Values of k.")] = "0,10,1000",
    simulations: Annotated[int, typer.Option(help="Simulations a move of RAVE.")] = 10,
    games: Games = 4,
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
        low, high = match.interval
        print(f"| {k} | {match.score.score:.2f} | {low:.2f} to {high:.2f} | {games} |", flush=True)


@app.command()
def proofs(
    names: Annotated[str, typer.Option(help="Games.")] = "tic_tac_toe",
    agent: Annotated[str, typer.Option(help="The agent.")] = "pn_mcts_fsu",
    against: Annotated[str, typer.Option(help="Its opponent.")] = "uct",
    seconds: Annotated[float, typer.Option(help="Seconds a move.")] = 0.01,
    cpu_time: Annotated[bool, typer.Option(help="Count the processor's time.")] = False,
    games: Games = 4,
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
        decided = bare.wins + bare.losses
        won = bare.wins / decided if decided else float("nan")
        low, high = score_interval(won, decided) if decided else (0.0, 1.0)
        print(
            f"| {game} | {won:.2f} ({low:.2f} to {high:.2f}) | {bare.draws} | {bare.games} | "
            f"{paired.score.score:.2f} ({paired.interval[0]:.2f} to {paired.interval[1]:.2f}) | "
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
