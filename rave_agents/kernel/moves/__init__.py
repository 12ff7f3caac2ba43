"""Selection by kind of game: players in turn, at the same time, or with hidden information."""
