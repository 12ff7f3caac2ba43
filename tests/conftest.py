import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # so that tests can import ``helpers``

# A job in the background of a script is started with SIGINT ignored, and so would be the programs
# that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
