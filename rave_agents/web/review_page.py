"""``review_page``: a review as one page to step through, with win curve and mistakes."""

from rave_agents.analysis.review_result import Review
from rave_agents.game.plain_text import printable
from rave_agents.results.numbers import finite
from rave_agents.web.page import stored_game, stored_page
from rave_agents.web.pictures import plain_name


def review_page(review: Review) -> str:
    """Write a review as one page that contains everything.

    Args:
        review: the review.
    """
    said = ["The beginning."]
    turns = []
    rings = {}
    for number, move in enumerate(review.moves, 1):
        said.append(" ".join(move.sentences) or f"{move.number}. {move.name}")
        turns.append(
            {
                "player": move.player,
                "names": [printable(move.name)],
                "value": finite(review.values[number]),
                "word": move.word,
            }
        )
        if move.word and move.best_action is not None:
            rings[number] = (number - 1, move.best_action)
    game = stored_game(
        review.game,
        plain_name(review.game),
        review.states,
        review.played,
        steps=[{"said": printable(text), "thought": None} for text in said],
        turns=turns,
        rings=rings,
        reviewed=True,
    )
    return stored_page(f"Review of {review.game}", review.summary(), [game])
