"""OpenSpiel bots that search: drop-in players for scripts written for ``mcts.MCTSBot``."""

import copy
from collections.abc import Hashable, Sequence
from typing import Annotated, Any, ClassVar, Self, Unpack

import numpy as np
import pyspiel
from annotated_types import Ge, Le

from rave_agents.agents.amaf_fit import warn_of_misfit
from rave_agents.agents.searching_agent import ClockLike, SearchingAgent
from rave_agents.config.limit import make_limit
from rave_agents.config.regrets import keeps_regrets
from rave_agents.config.search_parameters import SearchParameters
from rave_agents.game.validation import checked
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.checks import check_moves
from rave_agents.searcher.searcher import Searcher
from rave_openspiel.any_game import as_openspiel_game
from rave_openspiel.bot_type import Bot
from rave_openspiel.positions import position_key
from rave_openspiel.same_game import is_same_game
from rave_openspiel.search_node import SearchNode, tree_report
from rave_openspiel.states import OpenSpielState
from rave_openspiel.support import (
    check_supported,
    check_worlds,
    is_simultaneous,
    searches_joint_moves,
)
from rave_openspiel.worlds import WorldFunction


class SearchBot(SearchingAgent, Bot):
    """A ``pyspiel.Bot`` that plays what a search finds; subclasses name a preset.

    The tree is kept between moves (``reuse_tree=True``) without the loop's help: the bot follows
    the history of each state that it gets, and starts afresh if that belongs to another game.
    The caller's states are never changed.

    ``copy.copy``, ``copy.deepcopy`` and ``pickle`` keep everything, the tree and the random streams
    included: the copy plays on as the original does, and neither disturbs the other; ``copy.copy``
    shares the game, the evaluator and ``worlds``. After ``restart`` they are small.

    Args:
        game: the game to play, its name, or ``Rules`` with a name, see ``rave_agents.as_game``;
            ``rave_openspiel.refusal`` gives the reason against a game. Where something is hidden
            from the player, each simulation begins in another world, which they cannot distinguish
            from the true state (``hidden="determinize"``), and no tree is kept between moves.
        player_id: the seat, from 0: the bot then refuses to move for others. None for any seat,
            which does not suffice for simultaneous moves.
        worlds: where something is hidden, a function ``worlds(state, player, rng)`` that returns a
            state that ``player``, who is to move, cannot distinguish from ``state``, drawn by the
            ``numpy.random.Generator`` ``rng``; each is checked. None for the game's own method, or
            else replays of its history, see ``rave_openspiel.worlds``.
        verbose: print the report of ``step_verbose`` at each move.
        simulations: with ``seconds``, ``clock``, ``seed``, ``evaluator`` and
            ``**config`` as for ``rave_agents.agents.searching_agent.SearchingAgent``.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game; it says why.
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.

    """

    seed: int | None
    own_parameters: ClassVar[tuple[str, ...]] = ("game", "player_id", "worlds", "verbose")
    node_type: ClassVar[type[SearchNode]] = SearchNode
    """The class of the nodes that ``mcts_search`` returns."""

    def __init__(
        self,
        game: Any,
        *,
        player_id: int | None = None,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: ClockLike = None,
        seed: int | None = None,
        evaluator: Any = None,
        worlds: WorldFunction | None = None,
        verbose: bool = False,
        **config: Unpack[SearchParameters],
    ) -> None:
        Bot.__init__(self)  # pybind11 refuses an instance whose C++ base was never made.
        game = as_openspiel_game(game)
        check_supported(game)
        checked("worlds", WorldFunction | None, worlds)
        if isinstance(evaluator, pyspiel.Evaluator):
            raise TypeError(
                "evaluator must have evaluate(state) and prior(state), which OpenSpiel's C++ "
                "evaluators do not offer to Python. For random rollouts leave evaluator out, and "
                "use playout_count=n for n of them at each leaf."
            )
        verbose = checked("verbose", bool, verbose)
        SearchingAgent.__init__(
            self,
            simulations=simulations,
            seconds=seconds,
            clock=clock,
            seed=seed,
            evaluator=evaluator,
            **config,
        )
        self.game: pyspiel.Game = game
        """The game that the bot plays."""
        self.player_id: int | None = checked("player_id", seat_of(game) | None, player_id)
        """The seat that the bot plays; None for any."""
        check_moves(self.config, simultaneous=searches_joint_moves(game.get_type(), self.config))
        check_worlds(game, self.config, worlds)
        warn_of_misfit(self.config, str(game), game.new_initial_state)
        self.worlds = worlds
        """The source of worlds of the user's own, if any."""
        self.verbose = verbose
        """True if each move prints a report; it may be set at any time."""
        self._game_name = str(game)
        self._analyst = Searcher(
            # Callers walk this tree: it must exist at forced and at solved positions too.
            self.config.replace(search_forced_moves=True, endgame_share=0.0),
            seed=self.seed,
            evaluator=self.evaluator,
        )
        # The searcher behind ``last_result``: ``mcts_search`` points it at the analyst.
        self._latest = self._searcher
        self._clone_seeds = np.random.SeedSequence(self.seed)
        # The position that ``get_policy`` searched: ``step`` there plays from that search.
        self._searched: Hashable | None = None

    def step(self, state: pyspiel.State) -> int:
        """Search and return the action to play; ``INVALID_ACTION`` where chance moves.

        Raises:
            TypeError: if ``state`` is not a ``pyspiel.State``.
            ValueError: if ``state`` belongs to another game or is terminal, or if the player to
                move is not ``player_id``.

        """
        action = self._choose(state, plays=True)
        return pyspiel.INVALID_ACTION if action is None else action

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Search; return the probability of each legal action, and the action drawn from them.

        At a chance node both are ``INVALID_ACTION``, as in OpenSpiel's ``MCTSBot``. Raises the same
        errors as ``step``.
        """
        self._choose(state, plays=True)
        result = self._found(state)
        if result is None:
            return [(pyspiel.INVALID_ACTION, 1.0)], pyspiel.INVALID_ACTION
        return result.policy, result.action

    def step_verbose(self, state: pyspiel.State) -> tuple[int, str]:
        """Search; return the action to play and a readable report of the search.

        The report has the lines that OpenSpiel's ``MCTSBot`` prints, and a table with the AMAF
        statistics if the search keeps them. Raises the same errors as ``step``.
        """
        self._choose(state, plays=True, reports=False)
        result = self._found(state)
        if result is None:
            return pyspiel.INVALID_ACTION, ""
        return result.action, self._report(state, result)

    def provides_policy(self) -> bool:
        """Return True: the bot has ``get_policy`` and ``step_with_policy``."""
        return True

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Return the probability of each legal action, by a search as ``step`` would run it.

        A second call at the same position returns the same policy, and ``step`` there draws its
        action from it without another search. Raises the same errors as ``step``.
        """
        self._choose(state, plays=False)
        result = self._found(state)
        return [(pyspiel.INVALID_ACTION, 1.0)] if result is None else result.policy

    def restart(self) -> None:
        """Forget the game: a new one begins. The random streams go on."""
        self._forget_game()
        self._searched = None

    def restart_at(self, state: pyspiel.State) -> None:
        """Forget the game and continue from this state, which may be any state of the game.

        Raises:
            TypeError, ValueError: if ``state`` is not a state of the bot's game.

        """
        self._check_state(state)
        self.restart()

    def inform_action(self, state: pyspiel.State, player_id: int, action: int) -> None:
        """Note that a player, chance or the bot itself takes ``action`` at ``state``.

        The call advances the kept tree on the opponents' time. It is optional: ``step`` follows the
        game by itself.

        Raises:
            TypeError, ValueError: if ``state`` is not a state of the bot's game, or the action is
                illegal.

        """
        self._check_state(state)
        if state.is_simultaneous_node():
            raise ValueError(
                "Players move at the same time at this state: call inform_actions with one action "
                "of each."
            )
        legal = (
            [outcome for outcome, _ in state.chance_outcomes()]
            if state.is_chance_node()
            else state.legal_actions()
        )
        if action not in legal:
            raise ValueError(f"Action {action} is not legal at this state; legal are {legal}.")
        self._follow(state, (int(action),))

    def inform_actions(self, state: pyspiel.State, actions: Sequence[int]) -> None:
        """Note that the players take this joint action, one action each, at ``state``.

        The call is optional, as ``inform_action`` is.

        Raises:
            TypeError, ValueError: if ``state`` is not a state of the bot's game, if players do not
                move at the same time there, or an action is illegal.

        """
        self._check_state(state)
        if not state.is_simultaneous_node():
            raise ValueError(
                "At this state one player moves at a time: call inform_action for each action."
            )
        if len(actions) != state.num_players():
            raise ValueError(f"Give one action for each of {state.num_players()} players.")
        for player, action in enumerate(actions):
            legal = state.legal_actions(player)
            # Players without a move have no legal actions; OpenSpiel ignores their entry.
            if legal and action not in legal:
                raise ValueError(
                    f"Action {action} of player {player} is not legal at this state; legal are "
                    f"{legal}."
                )
        self._follow(state, tuple(map(int, actions)))

    def provides_force_action(self) -> bool:
        """Return True: the bot has ``force_action``."""
        return True

    def force_action(self, state: pyspiel.State, action: int) -> None:
        """Note that the bot is forced to take ``action`` at ``state``.

        Raises:
            TypeError, ValueError: as ``step`` and ``inform_action`` do.

        """
        player = self.check_decision(state)
        # One player's action is not a joint action: the tree cannot follow it alone.
        if not state.is_simultaneous_node():
            self.inform_action(state, player, action)
        elif action not in state.legal_actions(player):
            legal = state.legal_actions(player)
            raise ValueError(f"Action {action} is not legal at this state; legal are {legal}.")

    def is_clonable(self) -> bool:
        """Return True: the bot has ``clone``."""
        return True

    def clone(self) -> Self:
        """Return a bot with the same tree and its own random numbers.

        Its seed is derived from this bot's; the evaluator is shared. For an exact copy, random
        numbers included, use ``copy.deepcopy``.
        """
        twin = copy.copy(self)
        # ``spawn`` counts its calls, so that every clone gets another stream.
        words = self._clone_seeds.spawn(1)[0].generate_state(4)
        twin._reseed(int.from_bytes(words.tobytes(), "little"))
        return twin

    def __copy__(self) -> Self:
        # An entry in deepcopy's memo is taken as its own copy, and so stays shared.
        shared = (self.game, self.evaluator, self.worlds)
        return copy.deepcopy(self, {id(given): given for given in shared})

    def mcts_search(self, state: pyspiel.State) -> SearchNode:
        """Search from scratch and return the tree's root, to walk and to print.

        The search builds a tree of its own and does not touch the bot's game. Unlike ``step`` it
        searches positions with a single legal action too.

        Raises:
            TypeError, ValueError: as ``step``, and at a chance node.

        """
        self.check_decision(state)
        if is_simultaneous(self.game):
            raise ValueError(
                "The stock bot's tree, which mcts_search shows, has one player at each node: in "
                f"{self._game_name} players move at the same time. See last_result after step."
            )
        if keeps_regrets(self.config.regrets):
            raise ValueError(
                "mcts_search shows a tree of positions: this bot keeps regrets of information "
                "sets instead. See last_result after step."
            )
        self._analyst.reset()
        limit = self.limit or make_limit(None, None)
        self._analyst.choose(OpenSpielState(state, self.worlds), limit)
        self._latest = self._analyst
        tree = self._analyst.release_tree()
        assert tree is not None
        return self.node_type(tree)

    def check_decision(self, state: pyspiel.State) -> int:
        """Return the player to choose for; refuse a state where the bot has no choice.

        Raises:
            TypeError: if ``state`` is not a ``pyspiel.State``.
            ValueError: if ``state`` belongs to another game, is terminal or a chance node, or if
                the player to move is not ``player_id``; where players move at the same time, if the
                bot has no ``player_id``, or that player has no action.

        """
        # Identity is the usual case and cheap; comparing games builds their texts.
        if not isinstance(state, pyspiel.State) or state.get_game() is not self.game:
            self._check_state(state)
        if state.is_terminal():
            raise ValueError("The game is over at this state: there is no action to choose.")
        player = int(state.current_player())
        if state.is_simultaneous_node():
            if self.player_id is None:
                raise ValueError(
                    f"In {self._game_name} players move at the same time: make the bot with the "
                    "seat that it plays, such as player_id=0."
                )
            if not state.legal_actions(self.player_id):
                raise ValueError(f"Player {self.player_id} has no action at this state.")
            return self.player_id
        if player < 0:  # Chance; simultaneous (-2) and terminal (-4) were handled above.
            raise ValueError("Chance moves at this state: apply an outcome, then ask again.")
        if self.player_id is not None and player != self.player_id:
            raise ValueError(
                f"This bot plays as player {self.player_id}, but player {player} is to move."
            )
        return player

    def __repr__(self) -> str:
        limits = {} if self.limit is None else {**vars(self.limit)}
        limits |= {"clock": self.clock}
        budget = ", ".join(f"{name}={value}" for name, value in limits.items() if value is not None)
        return f"{type(self).__name__}({self._game_name}, {budget}, seed={self.seed})"

    def __reduce__(self) -> tuple[Any, ...]:
        # pybind11 objects cannot be pickled or deep-copied: make a new Bot and fill it.
        return _blank, (type(self),), dict(vars(self))

    @property
    def last_result(self) -> SearchResult | None:
        """The result of the last search, made when first asked for; None before the first."""
        return self._latest.last_result

    def _found(self, state: pyspiel.State) -> SearchResult | None:
        """The result of a search at a state; None if chance moves there."""
        return None if state.is_chance_node() else self.last_result

    def _choose(self, state: pyspiel.State, *, plays: bool, reports: bool = True) -> int | None:
        """Search for the player to move, unless ``get_policy`` has just done so here.

        Args:
            state: the position.
            plays: whether the bot plays here; if so, another call here searches again.
            reports: whether a verbose bot prints what it finds.

        Returns:
            None where chance moves.
        """
        if isinstance(state, pyspiel.State) and state.is_chance_node():
            return None
        player = self.check_decision(state)
        own = vars(self)  # Bypasses the validation in ``__setattr__``, which is for users.
        if self._searched is not None and self._searched == position_key(state):
            action = self._searcher.result().action
        else:
            own["_searched"] = None  # Before the search: an interrupt leaves no stale key.
            root = OpenSpielState(state, self.worlds)
            action = self._searcher.choose(
                root, self.limit, player=player, clock=self.clock, reuse=True
            )
        own.update(_latest=self._searcher, _searched=None if plays else position_key(state))
        if plays and reports and self.verbose and self.last_result is not None:
            print(self._report(state, self.last_result))
        return action

    def _follow(self, state: pyspiel.State, actions: Sequence[int]) -> None:
        """Advance the kept tree by actions here, if this position follows from its root."""
        root = self._searcher.root
        if root is None or not self.config.reuse_tree:
            return
        # Informed moves may lag behind: replay those between the root and this state first.
        moves = root.moves_to(OpenSpielState(state))  # type: ignore[attr-defined]
        if moves is not None:
            self._searched = None
            self._searcher.follow([*moves, *actions])

    def _check_state(self, state: pyspiel.State) -> None:
        if not isinstance(state, pyspiel.State):
            raise TypeError(f"state must be a pyspiel.State, got {state!r}.")
        game = state.get_game()
        if not is_same_game(game, self.game):
            raise ValueError(f"This bot plays {self._game_name}, but the state is of {game}.")

    def _reseed(self, seed: int) -> None:
        vars(self)["seed"] = seed
        self._latest = self._searcher
        self._clone_seeds = np.random.SeedSequence(seed)
        self._searcher.reseed(seed)
        self._analyst.reseed(seed)

    def _report(self, state: pyspiel.State, result: SearchResult) -> str:
        """Describe the last search, at ``state``, in the lines of OpenSpiel's ``MCTSBot``."""
        lines = [
            f"Finished {result.simulations} sims in {result.seconds:.3f} secs, "
            f"{result.simulations_per_second:.1f} sims/s"
        ]
        lines += result.remarks
        tree = self._searcher.rooted_tree()
        if tree is None and result.searched and not result.forced:
            return "\n".join([*lines, str(result)])
        if tree is None:
            why = "Forced" if result.forced else result.why_not_searched
            return "\n".join([*lines, f"{why}: {result.action_name(result.action)}"])
        if is_simultaneous(self.game):
            return "\n".join([*lines, str(result)])
        lines += tree_report(tree, state, result.action)
        if any(row.amaf_visits > 0 for row in result.actions):
            lines += ["AMAF:", str(result)]
        return "\n".join(lines)


def _blank(kind: type[SearchBot]) -> SearchBot:
    """A bot without attributes, which unpickling sets."""
    bot = kind.__new__(kind)
    Bot.__init__(bot)
    return bot


def seat_of(game: pyspiel.Game) -> Any:
    """The annotation of a seat of a game, see ``rave_agents.game.validation``."""
    return Annotated[int, Ge(0), Le(game.num_players() - 1)]
