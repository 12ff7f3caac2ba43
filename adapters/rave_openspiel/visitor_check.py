"""Self-test of a newly compiled library of visits, which runs in a process of its own.

``python -m rave_openspiel.visitor_check LIBRARY`` exits with status 0 if the library agrees
with pyspiel's states.
"""

import pathlib
import sys

import numpy as np
import pyspiel

from rave_agents.compiler.layout import call_address
from rave_agents.equilibrium.state_visitor import StateVisitor
from rave_agents.simulate.expansion import Answered
from rave_agents.simulate.visits import Visit, VisitPlace, make_visit
from rave_openspiel.native_visitor import NativeVisitor, VisitorLibrary
from rave_openspiel.states import OpenSpielState

GAMES = (
    "kuhn_poker(players=3)",
    "leduc_poker",
    "tic_tac_toe",
    "phantom_ttt",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "oshi_zumo(coins=5,size=1)",
)

_OUTPUTS = [VisitPlace.PLAYER, VisitPlace.NUM_ACTIONS]


def check(library: VisitorLibrary) -> None:
    """Check that the library visits histories as the visitor in Python does.

    Raises:
        AssertionError: if it does not; the message says where.
    """
    draw = np.random.default_rng(1)
    for spec in GAMES:
        start = pyspiel.load_game(spec).new_initial_state()
        streams = [np.arange(1, 5, dtype=np.int64) for _ in range(2)]
        native, python = (make_visit(start.num_players(), 64, 256, each) for each in streams)
        visitors = (
            NativeVisitor(library, start, native),
            StateVisitor(OpenSpielState(start), python),
        )
        keys: dict[tuple[int, ...], tuple[int, ...]] = {}
        for _ in range(20):
            _check_game(spec, draw, list(zip(visitors, (native, python), strict=True)), keys)
        assert len(set(keys.values())) == len(keys), f"{spec}: keys"


def _check_game(
    spec: str,
    draw: np.random.Generator,
    both: list[tuple[NativeVisitor | StateVisitor, Visit]],
    keys: dict[tuple[int, ...], tuple[int, ...]],
) -> None:
    path: list[int] = []
    while True:
        for playout in (1, 0):
            found = []
            for visitor, visit in both:
                header = visit.header
                visit.path[: len(path)] = path
                header[VisitPlace.LENGTH], header[VisitPlace.PLAYOUT] = len(path), playout
                header[VisitPlace.STATUS] = 0
                status = call_address(visitor.address, header.ctypes.data)
                status = int(header[VisitPlace.STATUS]) or status
                assert status == Answered.DONE, f"{spec}: status {status} at {path}"
                count = int(header[VisitPlace.NUM_ACTIONS])
                outputs = [header[_OUTPUTS], visit.actions[:count], visit.returns]
                found.append([array.tolist() for array in outputs])
            assert found[0] == found[1], f"{spec}: {found[0]} is not {found[1]} at {path}"
        (player, count), actions, _ = found[0]
        if count == 0:
            return
        if player >= 0:
            # Both make keys of their own, which tell the same information sets apart.
            place = slice(VisitPlace.FIRST_KEY, VisitPlace.SECOND_KEY + 1)
            native, python = (tuple(visit.header[place].tolist()) for _, visit in both)
            assert keys.setdefault(python, native) == native, f"{spec}: keys at {path}"
        path.append(actions[int(draw.integers(count))])


if __name__ == "__main__":
    check(VisitorLibrary(pathlib.Path(sys.argv[1])))
