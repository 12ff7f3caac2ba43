"""Named agents, made from specs such as ``rave(simulations=500)``.

What the frameworks' own agents that search have in common is here, too (``searching_agent.py``,
``environment_agent.py``), and how policies of other libraries are asked (``policies.py``).

It imports the searcher, and programs that play by the Go Text Protocol (``engines.client``).
"""
