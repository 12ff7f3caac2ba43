"""``Cloner``: correct copies of a framework's environments, and the chance found in them."""

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Any

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import Knowledge, known, look_for_chance, remember
from rave_agents.environments.clone_check import CloneCheck, Player, check_clones
from rave_agents.environments.copying import CopyRules, copied, fingerprint
from rave_agents.environments.wrappers import blamed, chain, class_name, refused_wrapper
from rave_agents.errors import CloneError


class Cloner:
    """Copies the environments of a framework; a subclass says how.

    The first copy of each environment is checked by playing copies (``clone_check``), but for those
    that are known to copy correctly. Two environments of one class may differ in what they hold, so
    each is checked. A copy of a checked environment counts as checked.
    """

    advice: str
    """A sentence with the remedy for an environment that cannot be copied."""

    def __init__(self) -> None:
        self._repeats: dict[int, tuple[weakref.ref[Any], dict[Hashable, bool]]] = {}

    # A framework's part.

    def inner(self, env: Any) -> Any | None:
        """The environment inside a wrapper; None for a raw environment."""
        raise NotImplementedError

    def is_known(self, env: Any) -> bool:
        """True for an environment that is known to copy correctly and to repeat itself."""
        raise NotImplementedError

    def clone(self, env: Any) -> Any:
        """A copy that shares no mutable object with its original."""
        raise NotImplementedError

    def simulation_cloner(self, env: Any, seed: int = 0) -> Callable[[Any], Any]:
        """The fastest function that copies a search's root for simulations.

        Copies draw from the generators of their original, one after the other; those that cannot
        have generators of their own, seeded by ``seed``.
        """
        raise NotImplementedError

    def fingerprint_rules(self) -> CopyRules:
        """Rules by which the whole content of an environment becomes bytes."""
        raise NotImplementedError

    def player(self, masks: Any) -> Player:
        """What plays environments to check copies.

        Args:
            masks: the current masks of actions, as far as they are known.
        """
        raise NotImplementedError

    # Checked copies.

    def checked_clone(self, env: Any, masks: Any = None) -> Any:
        """A copy of an environment whose copies are checked before the first.

        Args:
            env: the environment; it is not changed.
            masks: as for ``player``.

        Raises:
            CloneError: if it cannot be copied, or a copy is wrong; the message says why.
        """
        repeats = self.repeats(env)
        if repeats is None:
            check = CloneCheck(played=True, repeats=True)
            if not self.is_known(env):
                rules = self.fingerprint_rules()
                player = self.player(masks)
                check = check_clones(
                    env, self.clone, lambda thing: fingerprint(thing, rules), player, self.advice
                )
            if check.played:
                repeats = check.repeats
                self.note(env, repeats)
        new = self.clone(env)
        if repeats is not None:
            self.note(new, repeats)
        return new

    def repeats(self, env: Any) -> bool | None:
        """Whether an environment repeats itself under equal actions and random numbers.

        None if it has not been checked.
        """
        raw, key = self._identity(env)
        entry = self._repeats.get(id(raw))
        return None if entry is None or entry[0]() is not raw else entry[1].get(key)

    def note(self, env: Any, repeats: bool) -> None:
        """Note the result of a check, for as long as the environment exists."""
        raw, key = self._identity(env)
        number = id(raw)
        entry = self._repeats.get(number)
        if entry is None or entry[0]() is not raw:
            # A C function: an exception that a signal handler raises in a callback is lost.
            entry = weakref.ref(raw, functools.partial(self._repeats.pop, number)), {}
            self._repeats[number] = entry
        entry[1][key] = repeats

    def forget(self) -> None:
        """Forget all checks."""
        self._repeats.clear()

    def _identity(self, env: Any) -> tuple[Any, Hashable]:
        """The innermost environment, and the types of all wrappers around it."""
        every = chain(env, self.inner)
        return every[-1], tuple(map(type, every))

    def knowledge(
        self, raw: Any, base: Callable[[], Any], player: Player, **options: Any
    ) -> Knowledge:
        """The knowledge of the chance in an environment, detected at the first call.

        Args:
            raw: the innermost environment.
            base: makes a copy for the detection alone.
            player: plays the copy.
            options: further arguments of ``look_for_chance``.
        """
        found = known(raw)
        if found is None:
            copy = base()
            report = look_for_chance(
                copy,
                self.simulation_cloner(copy),
                player,
                repeats=self.repeats(copy) is not False,
                **options,
            )
            found = remember(raw, Knowledge(report))
        return found

    def copied(self, env: Any, rules: CopyRules) -> Any:
        """A copy of an environment and its wrappers by rules.

        Raises:
            CloneError: if that fails; it names the wrapper or the environment that is to blame.
        """
        try:
            return copied(env, rules)
        except CloneError:
            raise
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            fault = blamed(env, self.inner, lambda thing: copied(thing, rules))
            if self.inner(fault) is not None:
                raise CloneError(refused_wrapper(fault, error)) from error
            reason = f"{class_name(fault)} cannot be copied: {error}. {self.advice}"
            raise CloneError(reason) from error
