"""Names that other programs and papers give to what agents take, and this package's names for it.

A misspelt name is answered by its nearest, see ``arguments.py``; a name of the same meaning, such
as ``time_limit``, by the argument that it means here and that argument's unit.
"""

import re
from collections.abc import Collection
from typing import NamedTuple


class Meaning(NamedTuple):
    """The argument that stands here for some names of others."""

    argument: str
    """The argument; the advice is for what takes it."""
    advice: str
    """The remedy, as a message has it after a colon."""
    others: str
    """Names of others for it, separated by spaces; without what ``_AFFIXES`` takes off."""


MEANINGS: tuple[Meaning, ...] = (
    Meaning(
        "move_seconds",
        "use move_seconds, the wall-clock seconds for each move",
        "movetime move_time time_for_move think_time thinking_time thinktime search_time "
        "seconds_per_move time_per_move",
    ),
    Meaning(
        "move_seconds",
        "use seconds, the wall-clock seconds for all games together; move_seconds is for each move",
        "time times timeout timelimit second secs sec wall_clock_time wall_time duration budget",
    ),
    Meaning(
        "round_seconds",
        "use round_seconds, the seconds that an agent is measured in each of the rounds",
        "seconds time times timeout timelimit second secs sec wall_time duration",
    ),
    Meaning(
        "round_seconds",
        "use rounds, how often each agent is measured",
        "n_games episodes n_episodes matches repetitions repeats repeat n",
    ),
    Meaning(
        "games_per_pairing",
        "use games_per_pairing, the number of games of each two agents",
        "n_games num_games number_of_games episodes n_episodes rounds matches repetitions "
        "n_matches games_per_pair games_per_match",
    ),
    Meaning(
        "seconds",
        "use seconds, the wall-clock seconds for each move, not milliseconds",
        "movetime movetime_ms move_time_ms time_ms ms milliseconds msec time_limit_ms timeout_ms",
    ),
    Meaning(
        "seconds",
        "use seconds, the wall-clock seconds for each move",
        "seconds time times timeout second secs sec max_wall_clock_time wall_clock_time wall_time "
        "think_time thinking_time search_time move_time time_for_move duration thinktime timelimit",
    ),
    Meaning(
        "position",
        "use position: a FEN, the text that the game prints, or a file of moves",
        "fen sfen epd pgn sgf start_position initial_position start_fen board",
    ),
    Meaning(
        "playout_count",
        "use playout_count, the playouts at each new leaf, whose mean counts",
        "n_rollouts rollout_count playouts_per_leaf rollouts_per_leaf rollouts_per_simulation "
        "playouts_per_simulation n_random_rollouts",
    ),
    Meaning(
        "simulations",
        "use simulations, the number for each move; playout_count is that of playouts at each leaf",
        "rollouts rollout playouts playout n_playout n_playouts num_rollouts num_playouts "
        "max_rollouts max_playouts",
    ),
    Meaning(
        "nodes", "use nodes, the positions that the program searches a move", "simulations visits"
    ),
    Meaning(
        "simulations",
        "use simulations, the number for each move",
        "simulations sims sim iterations iteration iters iter visits visit nodes budget "
        "searches trials samples n",
    ),
    Meaning(
        "horizon",
        "use horizon, the steps that a simulation looks ahead before it is cut off",
        "depth maxdepth max_depth tree_depth rollout_depth playout_depth search_depth lookahead "
        "look_ahead length rollout_length episode_steps steps planning_horizon planning_depth",
    ),
    Meaning("depth", "use depth, the plies that the program searches", "maxdepth max_depth plies"),
    Meaning(
        "simulations",
        "there is no limit of depth, for the tree grows deep where it is worth it; limit "
        "simulations or seconds",
        "depth maxdepth max_depth tree_depth search_depth lookahead look_ahead plies horizon",
    ),
    Meaning(
        "playouts",
        "playouts go on to the end of the game; an evaluator takes their place",
        "rollout_depth playout_depth length rollout_length playout_length rollout_limit",
    ),
    Meaning(
        "discount",
        "use discount, what a reward counts less with every step, above 0 and at most 1",
        "gamma discount_factor discounting discount_rate reward_discount",
    ),
    Meaning(
        "simulations",
        "there is no discount here: a game's return counts in full whenever it comes, and only "
        "agents in environments have discount",
        "gamma discount_factor discounting discount_rate reward_discount discount",
    ),
    Meaning(
        "rule",
        "use c, halved: the exploration constant for values in [0, 1], to which utilities in "
        "[-1, 1] are scaled, so uct_c=2 is c=1",
        "uct_c uctc uct_constant ucb_c ucb1_c ucb_constant exploration_constant exploration "
        "exploration_weight exploration_parameter exploration_coefficient exploration_coeff "
        "exploration_factor exploration_param exploration_c explore c_explore c_uct c_ucb "
        "c_param cp c_exploration",
    ),
    Meaning(
        "rule",
        "use c, the constant of the rule puct for values in [0, 1], as in the agent puct or "
        "rule='puct(c=1.5)'",
        "c_puct cpuct puct_c puct puct_constant pb_c_init pb_c_base c1 c_base c_init",
    ),
    Meaning(
        "seed",
        "use seed, an integer of at least 0",
        "random_state rng random_seed seed_value rng_seed np_random generator random_generator "
        "numpy_seed prng prng_key rng_key",
    ),
    Meaning(
        "threads",
        "use threads, which search at the same time in one process, each a tree of its own",
        "threads n_jobs num_jobs jobs workers cores cpus processes nthreads parallel parallelism "
        "thread n_envs",
    ),
    Meaning(
        "jobs",
        "use jobs, the processes that play at the same time",
        "threads n_jobs processes workers cores cpus parallel parallelism nproc",
    ),
    Meaning(
        "games",
        "use games, the number of games",
        "games n_games episodes n_episodes rounds matches repetitions n_matches",
    ),
    Meaning(
        "clock",
        "use clock, the time for the game, such as '60+1' for 60 s and 1 s more with each move",
        "time_control timecontrol tc wtime btime increment inc game_time time_manager base_time",
    ),
    Meaning(
        "temperature",
        "use temperature: moves are drawn by visits to the power 1/temperature, 0 for the best",
        "tau temp sampling_temperature visit_temperature action_temperature policy_temperature "
        "temperature_init",
    ),
    Meaning(
        "evaluator",
        "use evaluator, which takes whatever evaluates positions: functions, networks, models, "
        "learned files",
        "value values value_function value_fn value_network value_net network net model nn policy "
        "policy_network policy_net policy_value_fn policy_value_function policy_fn prior priors "
        "prior_fn heuristic evaluate evaluation evaluation_function eval_fn eval evaluation_fn "
        "leaf_evaluator leaf_evaluation state_evaluator critic predictor position_value "
        "inference_fn",
    ),
    Meaning(
        "playouts",
        "use playouts, the playout policy, such as 'uniform_playouts'",
        "rollout_policy default_policy playout_policy simulation_policy rollout_fn playout_fn "
        "rollout_function simulate_fn rollout_strategy",
    ),
    Meaning(
        "rule",
        "use rule, such as 'puct'",
        "child_selection_fn child_selection_policy child_selection selection_policy tree_policy "
        "selection selection_rule select_fn selection_fn select_policy selector ucb_fn formula",
    ),
    Meaning(
        "proofs",
        "use proofs='proofs', or an agent that proves, such as uct_solver",
        "solve solver mcts_solver use_solver use_proofs proof_numbers prove",
    ),
    Meaning(
        "root_noise",
        "use root_noise, such as 'dirichlet_noise(alpha=0.3,epsilon=0.25)'",
        "dirichlet_noise dirichlet noise root_exploration_noise dirichlet_alpha dirichlet_epsilon "
        "root_dirichlet_alpha exploration_noise exploration_fraction root_exploration_fraction "
        "noise_alpha noise_epsilon noise_fraction noise_eps",
    ),
    Meaning(
        "final_move",
        "use final_move, such as 'max_child', and temperature",
        "final_policy_type final_policy final_selection best_child action_selection "
        "final_action choose_by move_selection best_move_by",
    ),
    Meaning(
        "simulations",
        "leave it out: this package has no such option",
        "dont_return_chance_node",
    ),
    Meaning(
        "expand_visits",
        "use expand_visits: a child gets a node of its own on this visit",
        "expand_threshold expansion_threshold visits_to_expand min_visits expansion_visits "
        "expand_after min_visits_to_expand",
    ),
    Meaning(
        "max_memory_mb",
        "use max_memory_mb, the megabytes for the tree",
        "memory memory_mb memory_gb hash hash_mb ram tree_size tree_nodes memory_bytes",
    ),
    Meaning(
        "reuse_tree",
        "use reuse_tree, True or False",
        "tree_reuse keep_tree reuse reuse_subtree persist_tree keep_subtree retain_tree",
    ),
    Meaning(
        "first_play_urgency",
        "use first_play_urgency, the value in [0, 1] of a move without visits, or "
        "first_play_value='reduced_parent_value'",
        "fpu fpu_value fpu_reduction initial_value q_init default_value",
    ),
    Meaning(
        "amaf",
        "use amaf, such as 'node_amaf', 'grave' or 'hrave', or an agent such as rave",
        "rave use_rave use_amaf grave",
    ),
    Meaning(
        "schedule",
        "use schedule, the weight of AMAF values, such as 'hand_selected(k=300)'",
        "rave_k equivalence equivalence_parameter beta rave_constant rave_bias amaf_k "
        "rave_equivalence beta_schedule rave_beta rave_weight",
    ),
    Meaning(
        "leaves",
        "use leaves, those that one search gives an evaluator of batches at once",
        "batch_size batch virtual_loss leaf_batch eval_batch_size leaves_per_batch",
    ),
    Meaning(
        "player_id",
        "use player_id, the seat, from 0",
        "player player_index seat playing_as player_number colour color",
    ),
    Meaning(
        "player",
        "use player, the agent of the environment to play for",
        "player_id player_name agent agent_id agent_name seat",
    ),
    Meaning(
        "opponent",
        "use opponent, the agent that plays the other seat",
        "agent bot player policy enemy adversary against other opponent_agent opponent_policy",
    ),
    Meaning(
        "html",
        "use --html FILE for one page; --help has other forms",
        "output out file page save report write",
    ),
    Meaning(
        "worlds",
        "use worlds, a function that draws a world that the player cannot tell from the true one",
        "determinize determinizer determinization resampler resample sampler belief belief_state "
        "observer world_sampler",
    ),
    Meaning(
        "early_stop",
        "use early_stop, True or False",
        "early_stopping smart_pruning stop_early",
    ),
    Meaning(
        "command",
        "the program limits its own moves: say it in its command; clock is the time it is told",
        "seconds time time_limit movetime simulations iterations rollouts visits nodes depth "
        "playouts level",
    ),
    Meaning(
        "json",
        "leave it out: progress goes to standard error (2> /dev/null hides it), results do not",
        "verbose verbosity quiet silent progress progress_bar show_progress no_progress",
    ),
    Meaning(
        "simulations",
        "leave it out, and print last_result after a move",
        "verbose verbosity debug quiet log logger render print show_progress progress progress_bar",
    ),
)
"""The owner of names with the same meaning, for Python, specs and the command line. Of several that
fit, the first counts whose argument is taken."""

_AFFIXES = re.compile(
    r"^(?:max|maximum|num|n|number_of|total|mcts|search|use_n)_|"
    r"_(?:limit|count|budget|per_move|number|num|per_search|max|each_move|a_move|s|in_seconds)$"
)
"""Words before and behind a name that change nothing in what it means."""


def meant(name: str, known: Collection[str]) -> str | None:
    """Advice for a name that is not known, where a known argument has its meaning; else None.

    Args:
        name: the name, as an argument has it or an option of a command.
        known: the names of the arguments that there are.
    """
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    for form in _forms(plain):
        for meaning in MEANINGS:
            if meaning.argument in known and form in meaning.others.split():
                return meaning.advice
        if form in known and form != name:
            return f"use {form}"
    return None


def _forms(name: str) -> list[str]:
    """A name, and what is left of it without the words that change nothing."""
    forms = [name]
    while (shorter := _AFFIXES.sub("", forms[-1], count=1)) != forms[-1] and shorter:
        forms.append(shorter)
    return forms
