"""x."""
from rave_pettingzoo.cloning import clone_env, register_cloner
