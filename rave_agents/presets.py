"""The configurations behind the agents' names: what each changes of the defaults."""

import math
from typing import Any

_RAVE: dict[str, Any] = {"amaf": "node", "exploration": 0.0}
_RAVE_FAMILY = {**_RAVE, "expand_visits": 1}

_PROOFS: dict[str, Any] = {
    "solver": True,
    "check_terminal": True,
    "check_refutations": True,
    "skip_solved": True,
    "proof_numbers": "every_player",
    "proof_bonus": "max",
    "proof_constant": 0.2,
    "proof_visits": 1.0,
    "contempt": 0.35,
}

PRESETS: dict[str, dict[str, Any]] = {
    "uct": {},
    "puct": {"selection": "puct", "first_play_urgency": 0.5, "exploration": 1.0},
    "rave": _RAVE,
    "grave": {**_RAVE_FAMILY, "amaf": "grave"},
    "hrave": {**_RAVE_FAMILY, "amaf": "global"},
    "rave_global": {
        "amaf": "global",
        "rave_schedule": "hand_selected",
        "rave_k": 500.0,
        "rave_blend": "ucb",
        "amaf_unvisited": False,
        "exploration": math.sqrt(2.0),
    },
    "uct_solver": {"solver": True, "check_terminal": True, "skip_solved": True},
    "pn_mcts": {
        **_PROOFS,
        "exploration": 0.35,
        "first_play_urgency": 0.5,
        "playout_temperature": 0.05,
    },
    "rave_pn": {**_PROOFS, **_RAVE},
    "pn_mcts_fsu": {
        "exploration": math.sqrt(2.0),
        "expand_visits": 1,
        "proof_numbers": "searcher",
        "proof_bonus": "rank",
        "proof_constant": 1.0,
        "check_terminal": True,
        "skip_solved": True,
        "contempt": 0.0,
    },
    "rave_weighted": {**_RAVE_FAMILY, "amaf_weighting": "linear", "amaf_weight_last": 1.0},
    "rave_maximin": {
        "amaf": "node",
        "amaf_players": "own",
        "rave_schedule": "hand_selected",
        "rave_k": 500.0,
        "rave_blend": "ucb",
        "exploration": math.sqrt(2.0),
        "simultaneous_exploration": math.sqrt(2.0),
        "final_move": "maximin",
    },
    "regret_matching": {"selection": "regret_matching", "final_move": "average_strategy"},
    "exp3": {"selection": "exp3", "final_move": "average_strategy"},
    "rave_winning_move": {**_RAVE_FAMILY, "winning_move_weight": 0.1},
}
