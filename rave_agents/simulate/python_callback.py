"""C callbacks into Python that lose no exception and return no garbage.

ctypes prints and ignores what a callback raises, and leaves its result undefined. A signal handler
that raises, such as Ctrl-C's, does so wherever Python code is entered, goes round a loop or returns
from a call: before the first line of a callback, too. So the result lies in memory that the caller
clears before the call, and the callback writes it last.
"""

import ctypes
from collections.abc import Callable, Generator

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
"""``int32_t f(int64_t)``: its return value is meaningless after a failure."""


class CallbackFailedError(RuntimeError):
    """A callback could not begin; Python has printed why."""


class PythonCallback:
    """A C function ``int32_t f(int64_t)`` that asks Python, one call after the other.

    Its body is a generator, so each call enters inside the ``try``. After an exception it cannot be
    called until ``raise_error``, which changes its address.

    Args:
        answer: gives the answer to the argument, above 0.
        memory: where the answer is written.
        place: the index there, which the caller clears before each call.
    """

    def __init__(self, answer: Callable[[int], int], memory: memoryview, place: int) -> None:
        self.memory = memory
        self.place = place
        self._answer = answer
        self._error: BaseException | None = None
        self._begin()

    @property
    def address(self) -> int:
        """The address of the C function; it stays valid as long as this object lives."""
        return ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def _begin(self) -> None:
        body = self._serve(self._answer)
        next(body)
        # ``send`` is C code: no signal handler can raise between the call and the ``try``.
        self._function = CALLBACK(body.send)

    def _serve(self, answer: Callable[[int], int]) -> Generator[int, int, None]:
        try:
            argument = yield 0
            while True:
                result = answer(argument)
                # Nothing can be raised from here until the next call has begun.
                self.memory[self.place] = result
                argument = yield result
        except GeneratorExit:
            raise
        except BaseException as error:
            self.memory[self.place] = 0
            self._error = error
            yield 0

    def raise_error(self) -> None:
        """Raise the exception of the last call, the very same object."""
        # An exhausted generator cannot be resumed: begin a new one before raising.
        error, self._error = self._error, None
        self._begin()
        if error is None:
            raise CallbackFailedError("A callback into Python could not begin.")
        raise error
