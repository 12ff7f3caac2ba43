"""``python -m rave_agents``: the program ``rave-agents``."""

from rave_agents.cli import main

if __name__ == "__main__":
    main()
