"""All-moves-as-first statistics (RAVE, GRAVE, HRAVE), their weights and the trust in them."""
