"""Values of an evaluator or learned online, in addition to the means of simulations."""
