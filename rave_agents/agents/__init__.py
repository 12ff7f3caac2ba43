"""Named agents, made from specs such as ``rave(simulations=500)``.

Also the common base of the frameworks' searching agents (``searching_agent.py``,
``environment_agent.py``), and agents made of other libraries' policies (``libraries.py``).
"""
