"""Run by test_watchdog.py in a process of its own: a call of C that never returns."""

import ctypes
import importlib.util
import pathlib
import signal
import sys

FILE = pathlib.Path(__file__).parents[2] / "rave_agents" / "compiler" / "watchdog.py"

spec = importlib.util.spec_from_file_location("watchdog", FILE)  # Without the package: it is quick.
watchdog = importlib.util.module_from_spec(spec)
spec.loader.exec_module(watchdog)

lock = ctypes.CDLL(None).pthread_mutex_lock
mutex = ctypes.create_string_buffer(256)


@watchdog.calls_compiled_code
def call():
    while True:
        lock(mutex)  # The second time it waits for itself.


@watchdog.calls_compiled_code
def call_of_python():
    while True:
        sum(range(1000))


def main(where):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Whatever the parent did with it.
    watchdog.WARNING_SECONDS = 0.2
    watchdog.PATIENCE_SECONDS = 0.6 if where == "once" else 60.0
    watchdog.watch_interrupts()
    for _ in range(2):
        print("begins", flush=True)
        try:
            call_of_python() if where == "answers" else call()
        except KeyboardInterrupt:
            print("answered", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
