"""Learning by self-play: values, policies and networks, in one loop of rounds (``rounds.py``).

``learn`` and ``train`` return an evaluator; ``learn_to_file`` and ``train_to_file`` write it after
each round and measure its strength. Four learners differ in how they play and fit:
``value_learner.py``, ``policy_learner.py``, ``observation_learner.py`` and ``network_learner.py``.
"""
