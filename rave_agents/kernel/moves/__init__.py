"""Selection by kind of game: alternating moves, simultaneous moves, or hidden information."""
