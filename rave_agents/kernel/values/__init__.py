"""Values of an evaluator, or learned during the search, beside the means of simulations."""
