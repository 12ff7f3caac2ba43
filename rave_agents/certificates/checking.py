"""The program that checks certificates with their games, see ``plain_games.bounded``."""

import os
from typing import Any

from rave_agents.certificates.certificate_file import check_file, named_game, read_header
from rave_agents.errors import CertificateError
from rave_agents.frameworks.plain_games import SECONDS, answer_items, give_time, reason_of

SECONDS_PER_BYTE = 0.002
"""Extra time per byte of a file: a small file may expand to millions of equal lines."""


def _lines_or_reason(request: Any) -> int | str:
    """The number of lines, or the reason why the file is refused."""
    path, line = request
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
    answer_items(_lines_or_reason)
