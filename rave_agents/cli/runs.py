"""The commands that play many games, and read their files: match, ablation, sweep, ..."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.markup import escape

from rave_agents.agents.named_agents import without_amaf
from rave_agents.analysis.exploitability import exploitability
from rave_agents.arena.arguments import games_and_agents, parse_agents
from rave_agents.arena.match import play_match
from rave_agents.arena.race import find_best
from rave_agents.arena.report_data import load_report
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.sweep import parse_vary, run_scaling, run_sweep
from rave_agents.arena.tournament import play_tournament, read_tournament
from rave_agents.cli.options import complete_agent
from rave_agents.cli.output import GameOutput, check_writable, play_games
from rave_agents.cli.program import command, use_current_folder
from rave_agents.cli.terminal import say, show_result
from rave_agents.files import written_whole
from rave_agents.records.journal import merge_journals


@command(play_match, sprt={"metavar": "ELO0,ELO1"})
def match(
    call: partial[Any],
    output: GameOutput,
    *,
    sprt: str | None = None,
    sprt_model: str = "normalized",
) -> None:
    """Let two agents play a match.

    Every random opening is played twice, with the seats exchanged. Ctrl-C or SIGTERM ends the match
    early and shows the games that are finished.

    Options:
        sprt: stop once a sequential test of ELO0 against ELO1 for FIRST is decided.
        sprt_model: scale of the --sprt bounds: normalized Elo (as Fishtest) or logistic.
    """
    test = None if sprt is None else Sprt.parse(sprt, model=sprt_model)
    play_games(partial(call, sprt=test), output)


@command(
    play_match,
    games={"default": 100},
    first={"metavar": "AGENT", "help": "An agent with AMAF statistics."},
    second={},
    sprt={},
    referee={},
    sgf={},
)
def ablation(call: partial[Any], output: GameOutput, first: str = "rave") -> None:
    """Measure what AMAF adds: let an agent play against the same without.

    The other is the same search without AMAF statistics, with the exploration of plain UCT if the
    agent itself has none.

    Options:
        games: games to play.
    """
    play_games(partial(call, first=first, second=str(without_amaf(first))), output)


@command(
    run_sweep,
    game={"metavar": "GAME[,GAME...]"},
    agent="The agent to vary, without the varied parameters.",
    opponent="Its opponent.",
    vary={"metavar": "KEY=VALUE,..."},
)
def sweep(call: partial[Any], output: GameOutput, *, vary: list[str]) -> None:
    """Let an agent with every combination of some parameters play against another one.

    All combinations play the same openings. Ctrl-C shows the games that are finished; with --output
    the same command then goes on.

    Options:
        vary: a parameter of AGENT and its values; may be repeated.
    """
    play_games(partial(call, vary=parse_vary(vary)), output)


@command(
    play_tournament,
    games={"metavar": "GAME... [AGENT...] | FILE", "autocompletion": complete_agent},
    games_per_pairing={"option": "--games"},
    gauntlet={"metavar": "AGENT"},
)
def tournament(
    call: partial[Any],
    output: GameOutput,
    games: list[str],
    *,
    agents: str | None = None,
    gauntlet: list[str] | None = None,
) -> None:
    """Let many agents play against each other, and rate them.

    Everybody meets everybody in every game. A TOML file sets games and agents, and where you like
    games_per_pairing, gauntlet, anchor, simulations, seconds, clock, seed, opening_plies, forfeit;
    options take precedence. Ctrl-C shows the standings; with --output the same command goes on.

    Options:
        games: games, then agents, such as: breakthrough auto rave uct; or a TOML file.
        agents: the agents, where GAMES are all games: 'auto rave(c=0.2) mine=./bot.py:Bot'.
        gauntlet: an agent that plays against all others, and these not each other.
    """
    settings = _settings(games, agents)
    if gauntlet:
        settings["gauntlet"] = gauntlet
    # ``call`` has only the options that were given, so that they replace those of the file alone.
    play_games(partial(play_tournament, **{**settings, **call.keywords}), output)


def _settings(words: Sequence[str], agents: str | None) -> dict[str, Any]:
    # A game's name has no suffix; a file without one must be the only word.
    is_file = words[0].endswith(".toml") or (len(words) == 1 and Path(words[0]).is_file())
    if not is_file:
        games, players = games_and_agents(words, agents)
        return {"games": games, "agents": players}
    if len(words) > 1 or agents is not None:
        raise ValueError(f"{words[0]} sets games and agents: give no others.")
    return read_tournament(words[0])


@command(
    run_scaling,
    agent="An agent without a limit.",
    against={"metavar": "AGENT", "autocompletion": complete_agent},
    simulations={"metavar": "N,N,..."},
    seconds={"metavar": "S,S,..."},
)
def scaling(
    call: partial[Any],
    output: GameOutput,
    *,
    against: list[str],
    simulations: str = "",
    seconds: str = "",
) -> None:
    """Measure how an agent's strength grows with its simulations or seconds a move.

    All limits play the same openings against the same opponents. Ctrl-C shows the games that are
    finished; with --output the same command then goes on.

    Options:
        against: an opponent with a limit of its own; may be repeated.
        simulations: simulations a move, such as 100,300,1000,3000.
        seconds: seconds a move, in their place.
    """
    limits = {
        "simulations": _numbers("simulations", simulations, int),
        "seconds": _numbers("seconds", seconds, float),
    }
    play_games(partial(call, against=against, **limits), output)


_N = TypeVar("_N", int, float)


def _numbers(name: str, text: str, kind: Callable[[str], _N]) -> list[_N]:
    try:
        return [kind(word) for word in text.split(",")] if text.strip() else []
    except ValueError:
        raise ValueError(f"--{name} takes numbers such as 100,300,1000; got {text!r}.") from None


@command(find_best, vary={"metavar": "KEY=VALUE,..."})
def best(
    call: partial[Any],
    output: GameOutput,
    *,
    agents: str | None = None,
    vary: list[str] | None = None,
) -> None:
    """Find the best agent for a game: a race of pairs of games that drops who is weaker early.

    It ends with one sentence: which agent is the best, with an interval that may be trusted at any
    time, or that no difference was found. Ctrl-C shows the standings; with --output the same
    command then goes on.

    Options:
        agents: the agents: 'auto rave(c=0.2) mine=./bot.py:Bot'; by default one of each kind that
            can play the game.
        vary: a parameter and its values: the agents that take it race with each. May be repeated.
    """
    players = None if agents is None else parse_agents(agents)
    run = partial(call, agents=players, vary=parse_vary(vary or []))
    play_games(run, output, summary_last=True)


@command(
    exploitability,
    agent={"metavar": "AGENT..."},
    simulations={"metavar": "N,N,..."},
    seconds={"metavar": "S,S,..."},
    jobs={"default": None},
    executor={},
)
def exploit(
    call: partial[Any],
    output: GameOutput,
    agent: list[str],
    *,
    simulations: str = "",
    seconds: str = "",
) -> None:
    """Measure exploitability: what opponents gain who know an agent's policy.

    At every information set of the game a new agent searches once; OpenSpiel computes best
    responses to the policy that results. Where there are too many sets, --bound lets a best
    responder learn by search, and shows what it gains at least. Ctrl-C shows the agents that are
    finished; with --output the same command then goes on.

    Options:
        agent: agents, such as: auto "uct(simulations=1000)" mine=./bot.py:Bot.
        simulations: simulations of each search, for agents without a limit, such as 100,1000,10000:
            a row for each.
        seconds: seconds of each search, in their place.
    """
    limits = {
        "simulations": _numbers("simulations", simulations, int),
        "seconds": _numbers("seconds", seconds, float),
    }
    agents = parse_agents(" ".join(agent))
    play_games(partial(call, agent=agents, **limits), output, unit="searches")


@command(
    journal={"metavar": "JOURNAL"},
    page={"option": "--html"},
    games={"min": 0},
    ask={"metavar": "AGENT"},
)
def report(
    journal: Path,
    *,
    page: Path | None = None,
    png: Path | None = None,
    csv: Path | None = None,
    games: int = 3,
    ask: list[str] | None = None,
) -> None:
    """Show the games of a file: as a page, a picture, a table, or here.

    The file may be of a match, a sweep, a tournament, a race or a curve, whether finished or not.
    It may be anybody's: nothing in it is imported, called or started. An agent that you name with
    --ask searches again to show what it thinks of each move of the games on the page.

    Options:
        journal: a file of --output.
        page: write one page with everything in it.
        games: games that the page replays.
        ask: an agent as the file has it, which searches again for the page; may be repeated.
    """
    files = GameOutput(csv=csv, png=png)
    files.check()
    check_writable(page, "--html")
    data = load_report(journal)
    if page is not None:
        from rave_agents.web.report_page import report_page  # noqa: PLC0415  (slow: matplotlib)

        if ask:  # Agents that the user names may be modules; the file's are never imported.
            use_current_folder()
        text = report_page(data, games=games, ask=ask or ())
        with written_whole(page, "w", encoding="utf-8") as file:
            file.write(text)
    files.write(data.result)
    if page is None and png is None and csv is None:
        show_result(data.result)


@command(merge_journals, output={"help": "The new file."}, inputs={"metavar": "FILE..."})
def merge(call: partial[Any], inputs: list[Path]) -> None:
    """Join files of games, such as those of shards, to one.

    They must be of the same match, sweep or tournament. The command that played them goes on from
    the new file with --output, and shows the tables.

    Options:
        inputs: files of games.
    """
    games = call(inputs=inputs)
    say(f"{games} games in {escape(str(call.keywords['output']))}.")
