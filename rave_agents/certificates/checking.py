"""The program that checks certificates by the games that they name, see ``plain_games.bounded``."""

import os
from typing import Any

from rave_agents.certificates.certificate_file import check_file, named_game, read_header
from rave_agents.errors import CertificateError
from rave_agents.frameworks.plain_games import SECONDS, answer_items, give_time, reason_of

SECONDS_PER_BYTE = 0.002
"""Time that each byte of a file adds: a small file may have millions of equal lines."""


def _checked(told: Any) -> int | str:
    """The number of lines, or the reason why the file is refused."""
    path, line = told
    try:
        header = read_header(iter([line]), path)
        game = named_game(header.game)
        game.new_initial_state().legal_actions()
        give_time(SECONDS + SECONDS_PER_BYTE * os.path.getsize(path))
        return check_file(path, header, game).lines
    except CertificateError as error:
        return str(error)
    except Exception as error:
        return f"The certificate is refused: {reason_of(error)}."


if __name__ == "__main__":
    answer_items(_checked)
