"""Header places, steps, statuses and checks as plain integers, which Numba compiles as constants.

See ``Header``, ``Status``, ``Step`` and ``CheckChildren`` in ``simulate/frame.py``.
"""

from rave_agents.simulate.frame import CheckChildren, Header, Status, Step

DONE = int(Status.DONE)
FAILED = int(Status.FAILED)
FRAME_FULL = int(Status.FRAME_FULL)
NO_SCORE = int(Status.NO_SCORE)
SOLVED = int(Status.SOLVED)
TREE_FULL = int(Status.TREE_FULL)

ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
CHOICE_PLAYER = int(Header.CHOICE_PLAYER)
CHOSEN = int(Header.CHOSEN)
NUM_CHOICES = int(Header.NUM_CHOICES)
PLAYOUT_END = int(Header.PLAYOUT_END)
PLAYOUT_START = int(Header.PLAYOUT_START)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
FORESEE = int(Header.FORESEE)
FORESEEN = int(Header.FORESEEN)
EXPAND = int(Header.EXPAND)
FIRST_KEY = int(Header.FIRST_KEY)
IN_PYTHON = int(Header.IN_PYTHON)
KEY_TOLD = int(Header.KEY_TOLD)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
NUM_MOVERS = int(Header.NUM_MOVERS)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)
NUM_SAMPLES = int(Header.NUM_SAMPLES)
SAMPLES = int(Header.SAMPLES)
SECOND_KEY = int(Header.SECOND_KEY)
OBSERVATION = int(Header.OBSERVATION)
PATH_CAPACITY = int(Header.PATH_CAPACITY)
PATH_LENGTH = int(Header.PATH_LENGTH)
PLAYER = int(Header.PLAYER)
REPLY = int(Header.REPLY)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
REQUIRED_MOVES = int(Header.REQUIRED_MOVES)
STATUS = int(Header.STATUS)
STEP = int(Header.STEP)
UNIFORM = int(Header.UNIFORM)
EVEN_WEIGHTS = int(Header.EVEN_WEIGHTS)
VIEW = int(Header.VIEW)

JUDGE_CHILDREN = int(CheckChildren.JUDGE)
OBSERVE_CHILDREN = int(CheckChildren.OBSERVE)

ADVANCE = int(Step.ADVANCE)
BEGIN = int(Step.BEGIN)
FINISH = int(Step.FINISH)
TRY_REPLY = int(Step.TRY_REPLY)
WHOLE = int(Step.WHOLE)
