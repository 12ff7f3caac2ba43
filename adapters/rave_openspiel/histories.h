// What a player knows of a game, and histories that fit it: what histories.cpp and first_history.h
// share.

#ifndef RAVE_OPENSPIEL_HISTORIES_H_
#define RAVE_OPENSPIEL_HISTORIES_H_

#include <chrono>

#include "states.h"

namespace {

using Clock = std::chrono::steady_clock;

// A state inside a history is kept if it is so many moves from the one before that is kept.
constexpr int kGap = 4;

constexpr int kNone = -1;  // No moment, no action.

class Late {};  // Raised to drop a history when the time is over.

// A position at which the player's view counts.
struct Moment {
  int mover;
  std::string view;
  bool own;  // Whether the player moves, so that `legal` counts.
  std::vector<Action> legal;
  Action action;  // The player's; kNone if another moves, and at the last moment.
};

struct Line {
  std::vector<int> movers;
  std::vector<Action> actions;
  std::vector<double> weights;  // Logarithms of probabilities; 0 for the player's own actions.
  std::vector<int> moments;     // Of each state, the last one too; kNone if it is none.
  // Some of the states, with the number of moves before each, ascending: the start, and the last.
  mutable std::vector<std::pair<size_t, std::shared_ptr<const State>>> kept;

  const State& last() const { return *kept.back().second; }

  // A new state after so many moves.
  std::unique_ptr<State> After(size_t moves) const {
    auto next = std::upper_bound(kept.begin(), kept.end(), moves,
                                 [](size_t count, const auto& one) { return count < one.first; });
    const size_t known = std::prev(next)->first;
    std::unique_ptr<State> state = std::prev(next)->second->Clone();
    for (size_t step = known; step < moves; ++step) state->ApplyAction(actions[step]);
    if (moves >= known + kGap) kept.insert(next, {moves, state->Clone()});
    return state;
  }
};

struct Budget {
  double steps;
  bool timed;
  Clock::time_point ends;

  Budget(double steps, double seconds) : steps(steps), timed(std::isfinite(seconds)) {
    if (timed) {
      ends = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(seconds));
    }
  }

  bool IsLate() const { return timed && Clock::now() > ends; }
  bool IsSpent() const { return steps < 0 || IsLate(); }
  void LookAtClock() const {
    if (IsLate()) throw Late();
  }
};

// Logarithm of the probability of an action if all move uniformly at random; NaN if it is illegal.
double LogProbability(const State& state, int mover, Action action) {
  if (mover == PLAYER_CHANCE) {
    for (const auto& [outcome, probability] : state.ChanceOutcomes()) {
      if (outcome == action && probability > 0) return std::log(probability);
    }
    return std::nan("");
  }
  const std::vector<Action> legal = state.LegalActions();
  if (std::find(legal.begin(), legal.end(), action) == legal.end()) return std::nan("");
  return -std::log(static_cast<double>(legal.size()));
}

// A random action or outcome, and the logarithm of its probability.
std::pair<Action, double> Drawn(const State& state, int mover, RandomWords& words) {
  if (mover != PLAYER_CHANCE) {
    const std::vector<Action> legal = state.LegalActions();
    CheckSome(legal.size(), mover);
    const Action action = legal[static_cast<size_t>(words.Unit() * legal.size())];
    return {action, -std::log(static_cast<double>(legal.size()))};
  }
  const ActionsAndProbs outcomes = state.ChanceOutcomes();
  double remaining = words.Unit();
  for (const auto& [outcome, probability] : outcomes) {
    remaining -= probability;
    if (remaining < 0.0) return {outcome, std::log(probability)};
  }
  // Probabilities may sum to a little less than 1: take the last possible outcome.
  for (auto pair = outcomes.rbegin(); pair != outcomes.rend(); ++pair) {
    if (pair->second > 0) return {pair->first, std::log(pair->second)};
  }
  Refuse("There is no possible chance outcome.");
}

// A player's knowledge.
struct Knowledge {
  std::shared_ptr<const State> start;
  int player;
  bool by_information_state;
  bool counts_moves;
  std::vector<Moment> moments;

  bool IsMoment(int mover) const { return mover == player || (counts_moves && mover >= 0); }

  std::string View(const State& state, int watcher) const {
    return by_information_state ? state.InformationStateString(watcher)
                                : state.ObservationString(watcher);
  }

  bool Fits(const State& state, int moment) const {
    const Moment& known = moments[moment];
    return state.CurrentPlayer() == known.mover && View(state, player) == known.view &&
           (!known.own || state.LegalActions() == known.legal);
  }
};

}  // namespace

#endif  // RAVE_OPENSPIEL_HISTORIES_H_
