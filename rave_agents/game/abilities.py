"""Optional attributes and methods of users' objects, listed with their types and meanings.

``StateAbilities`` lists those of positions; games, agents, simulators and adapters have classes of
the same kind next to their protocols. ``Offered`` is the one place that looks them up by name.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

_Value = TypeVar("_Value")


class Offered(Generic[_Value]):
    """An attribute that an object may have: its value there, or a default.

    Args:
        default: the value for objects without the attribute.
    """

    def __init__(self, default: _Value) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, asked: "Abilities", owner: type) -> _Value:
        # ``getattr`` at each access: states may get attributes later, or proxy other objects.
        found: _Value = getattr(asked.subject, self._name, self._default)
        return found


class Method(Offered[_Value]):
    """A method that an object may have; an attribute that is not callable counts as missing."""

    def __get__(self, asked: "Abilities", owner: type) -> _Value:
        found = super().__get__(asked, owner)
        return found if callable(found) else self._default


class Abilities:
    """Base of the lists of optional attributes and methods.

    Args:
        subject: the object that may have them.
    """

    __slots__ = ("subject",)

    def __init__(self, subject: Any) -> None:
        self.subject: Any = subject


class StateAbilities(Abilities):
    """Optional attributes and methods of a position, in addition to ``GameState``.

    ``StateAbilities(state).history`` is the state's method, or None. To offer one of these, a class
    of states defines a method of that name.
    """

    __slots__ = ()

    # Facts of the game, the same for all of its positions.

    facts: Offered[Callable[[], Any] | None] = Method(None)
    """``facts()``: the ``Facts`` of the game, for a state that keeps them; the same object as long
    as nothing has changed."""
    game_key: Offered[Callable[[], Hashable] | None] = Method(None)
    """``game_key()``: equal for two states exactly if they belong to the same game; needed if one
    class serves several games. A search forgets what it learned when the game changes."""
    utility_sum: Offered[Callable[[], float | None]] = Method(lambda: None)
    """``utility_sum()``: the sum of all players' returns at every end; None if it varies."""
    has_chance_nodes: Offered[Callable[[], bool] | None] = Method(None)
    """``has_chance_nodes()``: False if chance never moves in this game, which makes searches
    faster."""
    apply_actions: Offered[Callable[[Sequence[int]], Any] | None] = Method(None)
    """``apply_actions(actions)``: for simultaneous moves, play one action of each player, in their
    order; the entry of a player who does not move is ignored. ``legal_actions(player)`` then gives
    the actions of any player there, none for a player who does not move."""
    has_simultaneous_moves: Offered[Callable[[], bool] | None] = Method(None)
    """``has_simultaneous_moves()``: whether players may move at the same time in this game; by
    default, whether the state has ``apply_actions``."""
    hides_information: Offered[Callable[[], bool]] = Method(lambda: False)
    """``hides_information()``: whether something is hidden from players. A search then needs
    ``worlds`` and ``view``."""
    draws_chance: Offered[Callable[[], bool]] = Method(lambda: False)
    """``draws_chance()``: whether ``apply_action`` draws random outcomes itself. A search then
    needs ``worlds`` and ``view``: each world is this position with random numbers of its own."""

    # Identity of positions.

    position_key: Offered[Callable[[], Hashable] | None] = Method(None)
    """``position_key()``: equal for two states exactly if they are the same position of the same
    game, reached by any moves: it includes everything that the rules can still ask, and no more.
    None if that is unknown. With it, a search recognises that a kept tree belongs to another
    position; without it, no tree is kept. The solver and searches with ``transpositions`` recognise
    positions by it if it consists of bytes, text, numbers and tuples of these."""
    history: Offered[Callable[[], Sequence[int]] | None] = Method(None)
    """``history()``: the actions and chance outcomes since the game's start, which agents that ask
    other programs need."""
    moves_to: Offered[Callable[[Any], Sequence[int] | None] | None] = Method(None)
    """``moves_to(later)``: the actions that lead from here to a later position; None if unknown."""

    # Hidden information and chance in steps.

    worlds: Offered[Callable[[int, Callable[[], float]], Callable[[], Any]] | None] = Method(None)
    """``worlds(player, unit)``: a function that returns at each call another state that the player
    cannot tell from this one, drawn with ``unit()``, a uniform random number in [0, 1). Raises
    UnsupportedGameError if there is none."""
    view: Offered[Callable[[int], Hashable] | None] = Method(None)
    """``view(player)``: equal for two states exactly if the player sees the same in them. A search
    with worlds remembers what each player has seen at their own decisions."""
    recalls_all: Offered[Callable[[], bool]] = Method(lambda: False)
    """``recalls_all()``: whether ``view(player)`` shows everything that the player has seen and
    done since the start of the game. Then searches keep their tree between moves."""
    start: Offered[Callable[[], Any] | None] = Method(None)
    """``start()``: the state at which the game of this one began, from which ``history()`` leads
    here; needed by searches from the start of the game, such as ``mccfr``."""
    path_to: Offered[Callable[[Any], Sequence[int]] | None] = Method(None)
    """``path_to(state)``, of the state that ``start()`` returns, if states have no ``history()``: a
    path of actions and outcomes to a position that looks like ``state`` to its player to move."""
    visitor: Offered[Callable[..., Any] | None] = Method(None)
    """``visitor(visit)``: visits histories from this state faster than the generic visitor, see
    ``rave_agents.simulate.visits``; it may return None."""
    one_at_a_time: Offered[Callable[[int], Any] | None] = Method(None)
    """``one_at_a_time(player)``: for hidden information and simultaneous moves, the position in a
    game where they move in turn, unseen by each other, with ``player`` to move."""
    seeing: Offered[Callable[[], Any] | None] = Method(None)
    """``seeing()``: the same state with nothing hidden, for a search that may look at it."""

    # Faster providers.

    simulator: Offered[Callable[..., Any] | None] = Method(None)
    """``simulator(frame, evaluator)``: a provider of simulations that is faster than the generic
    one, see ``rave_agents.simulate.simulator``."""
    world_simulator: Offered[Callable[..., Any] | None] = Method(None)
    """``world_simulator(frame, evaluator, player)``: the same with ``worlds``."""
    observed_in_playouts: Offered[Callable[[], int]] = Method(int)
    """``observed_in_playouts()``: the size of the observations that ``simulator``'s provider can
    write in playouts; 0 for none."""
    expander: Offered[Callable[..., Any] | None] = Method(None)
    """``expander(expansion)``: a provider of expansions for the solver; it may return None."""
    on_compiled_rules: Offered[Callable[[], Any] | None] = Method(None)
    """``on_compiled_rules()``: the same position of a game of ``rave_agents.games``, for compiled
    value functions; None for none."""

    # What players and policies see.

    observation: Offered[Callable[[int], Any] | None] = Method(None)
    """``observation(player)``: a player's observation, as an array of numbers, for learning."""
    policy_view: Offered[Callable[[int], Any] | None] = Method(None)
    """``policy_view(player)``: the observation, mask and info of the framework's own loop."""
    apply_action: Offered[Callable[[int], Any] | None] = Method(None)
    """``apply_action(action)``: states have it; other objects lack it."""
    get_game: Offered[Callable[[], Any] | None] = Method(None)
    """``get_game()``: OpenSpiel's game of a state of OpenSpiel's."""
    framework_state: Offered[Any] = Offered(None)
    """The framework's own state, an attribute, for agents of the framework's users; by default the
    state itself."""
    state: Offered[Any] = Offered(None)
    """The framework's state inside a state that wraps it."""
    env: Offered[Any] = Offered(None)
    """The copy of an environment that the state steps, an attribute."""
    collected: Offered[Callable[[], tuple[Sequence[float], float]] | None] = Method(None)
    """``collected()``: each player's rewards so far, and the weight of the rewards to come."""

    # Text and pictures.

    action_to_string: Offered[Callable[[int, int], str] | None] = Method(None)
    """``action_to_string(player, action)``: how people write the action. ``__str__`` is the
    position as text."""
    board_tiling: Offered[Callable[[], str | None]] = Method(lambda: None)
    """``board_tiling()``: "squares", "hexagons" or "points"; None if the text shows it. See
    ``rave_agents.plots.board``."""
    drawn_board: Offered[Callable[[], Any] | None] = Method(None)
    """``drawn_board()``: the board to draw, or None, if the text does not show it and nothing is
    hidden; see ``rave_agents.game.board``."""
