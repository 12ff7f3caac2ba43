"""Learning by self-play: values, policies and networks, in one loop of rounds (``rounds.py``).

``learn`` and ``train`` return what was learned; ``learn_to_file`` and ``train_to_file`` write it
after each round and measure its strength. Three learners differ in how they play and fit:
``board_learner.py``, ``policy_learner.py`` and ``network_learner.py``.
"""
