"""Named agents, made from specs such as ``rave(simulations=500)``.

It imports the searcher, and the agent that runs another program (``gtp``).
"""
