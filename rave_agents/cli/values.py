"""The commands that learn a game: learn, train."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, get_args

import typer

from rave_agents.cli.program import (
    Csv,
    Debug,
    GameName,
    Json,
    Seed,
    app,
    check_files,
    check_writable,
    interrupted,
    reported,
    write_files,
)
from rave_agents.cli.terminal import show_json, show_result
from rave_agents.evaluators.file_match import NOT_MEASURED
from rave_agents.learning.board_learner import SMALL, WINDOWS
from rave_agents.learning.learn import KINDS, OPENING_PLIES, VALUE
from rave_agents.learning.to_file import (
    MATCH_GAMES,
    LearningResult,
    learn_to_file,
    train_to_file,
)
from rave_agents.learning.train import Targets

OutputFile = Annotated[
    Path, typer.Option(help="The file to write: agents take it as evaluator=FILE.")
]
Minutes = Annotated[float | None, typer.Option(help="Minutes of learning; 5 without --games.")]
Games = Annotated[int | None, typer.Option(help="Games of self-play, in place of time.")]
Rounds = Annotated[
    int, typer.Option(help="How often the file is written, and its strength checked.")
]
Jobs = Annotated[int, typer.Option(help="Processes that play.")]
Dask = Annotated[
    str | None, typer.Option(help="A Dask scheduler's address in their place, or 'local'.")
]
Begin = Annotated[Path | None, typer.Option("--from", help="A file of this command to go on from.")]
Checks = Annotated[
    int | None,
    typer.Option(
        help="Games of each check of strength, against the round before, against playouts and "
        "against mcts. Learning ends early once two rounds in a row have brought nothing. At the "
        "end of learn as many games decide between averages and minimax backups, and as many "
        "measure the agent with the file against it without, which the file records. By default "
        f"only this last match, of {MATCH_GAMES} games; 0 for none, recorded as {NOT_MEASURED}."
    ),
]
Curve = Annotated[
    Path | None, typer.Option(help="A picture to write: strength over time; needs --checks.")
]
TensorBoard = Annotated[
    Path | None, typer.Option(help="A folder of TensorBoard's; needs tensorboard.")
]


@app.command()
@reported
def learn(
    game: GameName,
    output: OutputFile,
    minutes: Minutes = None,
    games: Games = None,
    rounds: Rounds = 5,
    simulations: Annotated[
        int,
        typer.Option(
            help="Simulations a move of self-play, for a policy or without compiled rules."
        ),
    ] = 200,
    what: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join(KINDS)}]",
            help="What to learn: a value of positions, or a policy, the prior probabilities of "
            "moves, which helps in Hex.",
        ),
    ] = VALUE,
    windows: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join(WINDOWS)}]",
            help="What a value looks at: windows of two by three cells; of two by four, for ten "
            "minutes and more; these and lines of up to eight cells, which help in Othello; or "
            "pairs of lines, which help in Connect Four.",
        ),
    ] = SMALL,
    opening: Annotated[
        int,
        typer.Option(
            help="Random moves at the beginning of a game of self-play, at most: the more, the "
            "more positions are learned that good players avoid."
        ),
    ] = OPENING_PLIES,
    jobs: Jobs = 1,
    dask: Dask = None,
    begin: Begin = None,
    checks: Checks = None,
    curve: Curve = None,
    tensorboard: TensorBoard = None,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a value or a policy by self-play, for auto(evaluator=FILE) and other agents.

    It takes some minutes for a board game. The file is written after every round: what was learned
    by then is there after Ctrl-C.
    """
    check_files(csv)
    _check_files(output, curve, checks)
    with _kept(output):
        result = learn_to_file(
            game,
            output,
            minutes=minutes,
            games=games,
            rounds=rounds,
            simulations=simulations,
            jobs=jobs,
            dask=dask,
            start=begin,
            what=what,
            windows=windows,
            opening=opening,
            checks=checks,
            tensorboard=tensorboard,
            made=f"rave-agents learn '{game}', seed {seed}",
            seed=seed,
        )
    write_files(result, csv)
    _show(result, curve, as_json=as_json)


@app.command()
@reported
def train(
    game: GameName,
    output: OutputFile,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="What makes the network, called with the shape of observations and the number of "
            "actions: module:Net or './nets.py:Net(width=64)'. By default a small one of torch.",
        ),
    ] = None,
    minutes: Minutes = None,
    games: Games = None,
    rounds: Rounds = 5,
    simulations: Annotated[int, typer.Option(help="Simulations a move of self-play.")] = 50,
    targets: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join(get_args(Targets))}]",
            help="The search that plays, and what the policy learns: the shares of PUCT's visits, "
            "or the improved policy of Gumbel.",
        ),
    ] = "alphazero",
    jobs: Jobs = 1,
    dask: Dask = None,
    begin: Begin = None,
    checks: Checks = None,
    curve: Curve = None,
    tensorboard: TensorBoard = None,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Train a network by self-play with search, for puct(evaluator=FILE) and other agents.

    The file is written after every round: what was learned by then is there after Ctrl-C. It holds
    numbers alone: for a network of your own say evaluator="FILE(network=PLACE)".
    """
    check_files(csv)
    _check_files(output, curve, checks)
    with _kept(output):
        result = train_to_file(
            game,
            output,
            network,
            minutes=minutes,
            games=games,
            rounds=rounds,
            simulations=simulations,
            targets=targets,  # type: ignore[arg-type]  # Checked there.
            jobs=jobs,
            dask=dask,
            start=begin,
            checks=checks,
            tensorboard=tensorboard,
            made=f"rave-agents train '{game}', seed {seed}",
            seed=seed,
        )
    write_files(result, csv)
    _show(result, curve, as_json=as_json)


def _check_files(output: Path, curve: Path | None, checks: int | None) -> None:
    """Refuse files that cannot be written, and a curve without checks."""
    check_writable(output, "--output")
    if curve is not None:
        if not checks:
            raise ValueError("--curve shows checks of strength: give --checks, such as 20.")
        check_writable(curve, "--curve")


@contextlib.contextmanager
def _kept(output: Path) -> Iterator[None]:
    """Say after Ctrl-C what the file holds."""
    before = _last_change(output)
    try:
        yield
    except KeyboardInterrupt:
        if _last_change(output) == before:
            raise interrupted(f"no round had ended, and nothing was written to {output}.") from None
        raise interrupted(
            f"{output} has what was learned until the last round; --from {output} goes on."
        ) from None


def _last_change(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def _show(result: LearningResult, curve: Path | None, *, as_json: bool) -> None:
    """Draw the curve, and print what was learned."""
    if curve is not None:
        result.plot().savefig(curve)
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result)
