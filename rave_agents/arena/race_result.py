"""Result of a race: the best agent in one sentence, with its confidence."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from rave_agents.arena.elimination import LEVEL, Elimination
from rave_agents.arena.result import AgentsView
from rave_agents.frameworks.agent import Effort
from rave_agents.results.numbers import counted, fixed, interval_text
from rave_agents.results.rows import Field, Interval, exact_columns, plain_row, table_columns
from rave_agents.results.tables import Table

_NAMED = 4
"""Up to this many agents are named in a sentence."""


class RaceRow(NamedTuple):
    """One agent's row in the table."""

    agent: str
    """The name."""
    spec: str
    """The spec with its limit; for a custom agent its name."""
    outcome: str
    """``best``, ``leads``, ``level`` (with the leader), ``open`` or ``dropped``."""
    against: str | None
    """The agent it is compared with: the leader, or the one that eliminated it; None without
    one."""
    pairs: int
    """Pairs of games between the two."""
    mean: float
    """Its mean score against that agent; in single-player games the difference of mean returns."""
    interval: tuple[float, float]
    """The mean's interval; with 95 % probability all intervals of a race hold at all times."""
    games: int
    """Its number of games against all agents."""
    effort: Effort
    """Its moves, simulations and seconds in them."""

    @property
    def pairs_text(self) -> str:
        """The number of pairs; "-" for the leader."""
        return str(self.pairs) if self.against else "-"


FIELDS = (
    Field("agent", "agent", "agent", is_text=True),
    Field("", "spec", json_name="spec"),
    Field("outcome", "outcome", ""),
    Field("against", "against", "against", lambda name: name or "-", is_text=True),
    Field("pairs", "pairs"),
    Field("", "pairs_text", "pairs"),
    Field("mean", "mean", "score", fixed),
    Interval("", "interval", "95 % interval", interval_text),
    Field("games", "games", "games", rank=1),
    Field("seconds_per_move", "effort.seconds_per_move", "s a move", lambda s: fixed(s, 4), rank=2),
    Field("simulations_per_second", "effort.simulations_per_second"),
)
"""The values of a row."""


@dataclasses.dataclass(frozen=True, eq=False)
class Race(AgentsView):
    """The dropped and the remaining agents of a race.

    The rows of ``to_csv`` and ``to_frame`` are agents.
    """

    limit: str
    """The limit of agents whose spec had none, such as ``0.05 s a move``."""
    players: int
    """The game's number of players."""
    elimination: Elimination
    """The evidence from pairs of games; agents are indices into ``agents``."""
    refused: Mapping[str, str]
    """Agents that cannot play the game, with the reasons."""
    game: str
    """The game, as given."""
    seconds: float
    """Duration in seconds, not counting earlier runs of the same file."""
    earlier: int = 0
    """Games of earlier runs."""

    @property
    def leader(self) -> str:
        """The best agent, or the leading one while others may be as good."""
        return self.agents[self.elimination.leader]

    @property
    def left(self) -> tuple[str, ...]:
        """The remaining agents, the leader first."""
        return tuple(self.agents[agent] for agent in self.elimination.left)

    @property
    def dropped(self) -> dict[str, str]:
        """The dropped agents in order, with the agents that eliminated them."""
        places = self.elimination.dropped.items()
        return {self.agents[agent]: self.agents[winner] for agent, winner in places}

    @property
    def best(self) -> str | None:
        """The best agent; None if others are level with it or may be better."""
        return self.leader if len(self.left) == 1 else None

    @property
    def is_level(self) -> bool:
        """True if several agents remain, each proven to be about as strong as the leader."""
        rivals = self.elimination.left[1:]
        return bool(rivals) and all(map(self.elimination.is_level, rivals))

    @property
    def closest(self) -> tuple[str, float, tuple[float, float]] | None:
        """The leader's closest rival, its mean against it and the interval; None without games.

        The rival is a remaining agent if there is one. The mean is the leader's score against it;
        in single-player games the difference of mean returns.
        """
        leader, rule = self.elimination.leader, self.elimination
        everybody = [agent for agent in range(len(self.agents)) if agent != leader]
        for group in (self.elimination.left[1:], everybody):
            met = [agent for agent in group if rule.evidence(leader, agent).values]
            if met:
                rival = min(met, key=lambda agent: rule.mean(leader, agent))
                mean, interval = rule.mean(leader, rival), rule.interval(leader, rival)
                return self.agents[rival], mean, interval
        return None

    @property
    def sentence(self) -> str:
        """The best agent in one sentence, with its interval."""
        where = f"in {self.game}{f' at {self.limit}' if self.limit else ''}"
        if len(self.agents) == 1:
            return f"{self.leader} is the only agent of the race that plays {self.game}."
        if self.closest is None:
            return f"No pair of games was finished {where} in {_seconds_text(self.seconds)} s."
        before = f", {self.earlier:,} of them before" if self.earlier else ""
        games = f"{self.run.finished:,} games in {_seconds_text(self.seconds)} s{before}"
        comparison = self._comparison
        if self.best is not None:
            count = len(self.agents)
            return f"{self.best} is the best of {count} agents {where}: {comparison}, {games}."
        if self.is_level:
            return f"{_listed(self.left)} are equally strong {where}: {comparison}, {games}."
        others = self._others
        names = _listed(self.left)
        return f"No difference between {names} was found {where}: {comparison}{others}, {games}."

    @property
    def _others(self) -> str:
        """A remark on agents other than the leader and its closest rival; may be empty."""
        rule = self.elimination
        rivals = rule.left[1:]
        unmet = [a for a in rivals if not rule.evidence(rule.leader, a).values]
        remark = (
            f"; {counted(len(self.dropped), 'other')} proved to be weaker" if self.dropped else ""
        )
        return f"{remark}; {self.leader} has not met {len(unmet)} of them yet" if unmet else remark

    @property
    def _comparison(self) -> str:
        assert self.closest is not None
        rival, mean, (low, high) = self.closest
        if self.players == 1:
            more = f"{abs(mean):.3g} {'less' if mean < 0 else 'more'} than {rival}"
            interval = f"difference, 95 % interval {low:+.3g} to {high:+.3g}"
            return f"{self.leader} returns {more} in the mean ({interval})"
        interval = f"95 % interval {low:.3f} to {high:.3f}"
        level = f", and is proven to be within {LEVEL} of 1/2" if self.is_level else ""
        return f"{self.leader} scores {mean:.3f} against {rival} ({interval}){level}"

    @property
    def rows(self) -> list[RaceRow]:
        """The agents: the leader, the other remaining ones, then the dropped ones, latest first."""
        rule = self.elimination
        means = {agent: rule.mean(rule.leader, agent) for agent in rule.left[1:]}
        # Those who have not met the leader count as equal to it.
        rivals = sorted(means, key=lambda a: 0.5 if math.isnan(means[a]) else means[a])
        return [self._row(agent) for agent in (*rule.left[:1], *rivals, *reversed(rule.dropped))]

    def _row(self, agent: int) -> RaceRow:
        rule, against = self.elimination, self.elimination.leader
        outcome = "level" if agent != against and rule.is_level(agent) else "open"
        if agent in rule.dropped:
            outcome, against = "dropped", rule.dropped[agent]
        elif agent == against:
            outcome = "best" if self.best is not None else "leads"
        alone = agent == against
        mine = [match for match in self.matches if self.agents[agent] in match.agents]
        efforts = [match.efforts[match.agents.index(self.agents[agent])] for match in mine]
        return RaceRow(
            agent=self.agents[agent],
            spec=self.specs[agent],
            outcome=outcome,
            against=None if alone else self.agents[against],
            pairs=0 if alone else len(rule.evidence(agent, against).values),
            mean=math.nan if alone else rule.mean(agent, against),
            interval=(math.nan, math.nan) if alone else rule.interval(agent, against),
            games=sum(len(match.records) for match in mine),
            effort=Effort.total(efforts),
        )

    def summary(self) -> str:
        """The best agent, see ``sentence``."""
        return self.sentence

    @property
    def remarks(self) -> list[str]:
        """Lines on the agents that cannot play."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.refused.items():
            reasons.setdefault(reason, []).append(name)
        return [f"Left out: {', '.join(names)}. {reason}" for reason, names in reasons.items()]

    def tables(self) -> list[Table]:
        """A row per agent."""
        header = {"mean": self._mean_name}
        columns = [dataclasses.replace(f, header=header.get(f.name, f.header)) for f in FIELDS]
        return [Table(table_columns(columns, self.rows))]

    @property
    def _mean_name(self) -> str:
        return "difference" if self.players == 1 else "score"

    def columns(self) -> dict[str, list[Any]]:
        """A row per agent."""
        return exact_columns(FIELDS, self.rows)

    def estimates(self) -> dict[str, Any]:
        """The means against the leader, or against the agent that eliminated another."""
        met = [row for row in self.rows if row.against]
        estimates = [(f"{row.agent} against {row.against}", row.mean, row.interval) for row in met]
        return {
            "estimates": estimates,
            "label": f"{self._mean_name}, with 95 % intervals",
            "level": 0.0 if self.players == 1 else 0.5,
            "title": self.game,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return {
            "game": self.game,
            "sentence": self.sentence,
            "best": self.best,
            "leader": self.leader,
            "left": list(self.left),
            "level": self.is_level,
            "finished": self.run.finished,
            "seconds": self.seconds,
            "limit": self.limit,
            "seed": self.run.seed,
            "agents": [plain_row(FIELDS, row) for row in self.rows],
            "refused": dict(self.refused),
        }


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


def _listed(names: tuple[str, ...]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} others"
    return f"{', '.join(names[:-1])} and {names[-1]}"
