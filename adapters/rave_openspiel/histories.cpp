// Histories that fit a player's knowledge, replayed on OpenSpiel's C++ states: what knowledge.py and
// history_chain.py do for games in Python, with the same random numbers and so the same histories.
//
// native_library.py compiles this file and defines on the command line, from the Python
// enumerations: PLAYER_*; ERROR_*; LONGEST_GAME.

#include <chrono>
#include <limits>

#include "states.h"

namespace {

using Clock = std::chrono::steady_clock;

// A state inside a history is kept if it is so many moves from the one before that is kept.
constexpr int kGap = 4;

constexpr int kLate = -1;  // In the place of an ERROR_*: the time was over.

constexpr int kNone = -1;  // No moment, no action.

constexpr int kKinds = 3;  // Of proposals: swap two actions, change one, redraw several.

// How the chain draws its proposals, see history_chain.py.
struct Proposals {
  double kinds[kKinds];
  double elsewhere;
  double redraws;
  double block;
};

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

// A player's knowledge. One thread at a time may use it.
class Knowledge {
 public:
  Knowledge(const State& start, int player, bool by_information_state, bool counts_moves)
      : start_(start.Clone()),
        player_(player),
        by_information_state_(by_information_state),
        counts_moves_(counts_moves) {}

  void AddMoment(Moment moment) { moments_.push_back(std::move(moment)); }

  // A line of these actions, which fit.
  std::unique_ptr<Line> Adopted(size_t length, const int32_t* movers, const int64_t* actions,
                                const double* weights, const int32_t* moments) const {
    auto line = std::make_unique<Line>();
    line->movers.assign(movers, movers + length);
    line->actions.assign(actions, actions + length);
    line->weights.assign(weights, weights + length);
    line->moments.assign(moments, moments + length + 1);
    line->kept.push_back({0, start_});
    if (length > 0) {
      std::unique_ptr<State> state = start_->Clone();
      for (size_t step = 0; step < length; ++step) state->ApplyAction(actions[step]);
      line->kept.push_back({length, std::move(state)});
    }
    return line;
  }

  // The line, or a new one from the start if it is null, extended to the next moment with random
  // actions of the others; null if the player would see something else there.
  std::unique_ptr<Line> Continued(const Line* before, RandomWords words, double seconds,
                                  int64_t* played) const {
    const Budget budget(std::numeric_limits<double>::infinity(), seconds);
    auto line = before == nullptr ? Adopted(0, nullptr, nullptr, nullptr, &kNone)
                                  : std::make_unique<Line>(*before);
    int moment = 0;
    *played = 0;
    std::unique_ptr<State> state = line->last().Clone();
    if (before == nullptr) {
      if (IsMoment(state->CurrentPlayer())) {
        line->moments[0] = 0;
        *played = 1;
        return Fits(*state, 0) ? std::move(line) : nullptr;
      }
    } else {
      moment = line->moments.back() + 1;
      const Action action = moments_[moment - 1].action;
      if (action != kNone) {
        Add(*line, *state, player_, action, 0.0);
        *played = 1;
      }
    }
    for (int moves = 0; *played == 0 || !IsMoment(state->CurrentPlayer()); ++moves) {
      budget.LookAtClock();
      if (moves > LONGEST_GAME) throw EndlessGame();
      if (state->IsTerminal()) return nullptr;
      const int mover = state->CurrentPlayer();
      const auto [action, weight] = Drawn(*state, mover, words);
      Add(*line, *state, mover, action, weight);
      ++*played;
    }
    line->moments.back() = moment;
    if (!Fits(*state, moment)) return nullptr;
    line->kept.push_back({line->actions.size(), std::move(state)});
    return line;
  }

  // Runs the Markov chain for some proposals; returns null if the line stays as it was.
  std::unique_ptr<Line> Advanced(const Line& from, int64_t proposals, const int32_t* sites,
                                 size_t num_sites, const Proposals& settings, Budget& budget,
                                 RandomWords words, int64_t* counts, int8_t* changed) {
    settings_ = settings;
    std::unique_ptr<Line> reached;
    std::vector<int> others;
    for (size_t step = 0; step < from.movers.size(); ++step) {
      if (from.movers[step] != player_) others.push_back(static_cast<int>(step));
    }
    if (others.empty()) return reached;
    sites_.assign(sites, sites + num_sites);
    if (sites_.empty()) sites_ = others;
    const double cost = static_cast<double>(from.movers.size()) / 2;  // Half of it, on average.
    try {
      for (; proposals > 0 && !budget.IsSpent(); --proposals) {
        budget.steps -= cost;
        const Line& line = reached ? *reached : from;
        const double chosen = words.Unit();
        const double* kinds = settings.kinds;
        const int kind = chosen < kinds[0] ? 0 : chosen < 1.0 - kinds[2] ? 1 : 2;
        std::unique_ptr<Line> proposed =
            kind == 0   ? Swapped(line, others, budget, words)
            : kind == 1 ? Changed(line, others, budget, words)
                        : Redrawn(line, budget, words);
        ++counts[kind];
        if (!proposed) continue;
        ++counts[kKinds + kind];
        for (int step : others) changed[step] |= line.actions[step] != proposed->actions[step];
        reached = std::move(proposed);
      }
    } catch (const Late&) {
    }
    return reached;
  }

  Failure failure;

 private:
  bool IsMoment(int mover) const { return mover == player_ || (counts_moves_ && mover >= 0); }

  bool Fits(const State& state, int moment) const {
    const Moment& known = moments_[moment];
    return state.CurrentPlayer() == known.mover &&
           (by_information_state_ ? state.InformationStateString(player_)
                                  : state.ObservationString(player_)) == known.view &&
           (!known.own || state.LegalActions() == known.legal);
  }

  static void Add(Line& line, State& state, int mover, Action action, double weight) {
    line.movers.push_back(mover);
    line.actions.push_back(action);
    line.weights.push_back(weight);
    line.moments.push_back(kNone);
    state.ApplyAction(action);
  }

  // Replays a line from a step on, where `choose(state, step)` gives the others' actions. Null if
  // one is illegal or the player would see something else. The new weights are in `weights_`.
  template <typename Choose>
  std::unique_ptr<State> Replayed(const Line& line, size_t first, const Budget& budget,
                                  Choose choose) {
    std::unique_ptr<State> state = line.After(first);
    actions_.clear();
    weights_.clear();
    for (size_t step = first; step < line.actions.size(); ++step) {
      budget.LookAtClock();
      const int mover = line.movers[step];
      if (state->CurrentPlayer() != mover) return nullptr;
      Action action = line.actions[step];
      double weight = 0.0;
      if (mover != player_) {  // The player's own are legal: the views agree so far.
        action = choose(*state, step);
        weight = LogProbability(*state, mover, action);
        if (std::isnan(weight)) return nullptr;
      }
      actions_.push_back(action);
      weights_.push_back(weight);
      state->ApplyAction(action);
      const int moment = line.moments[step + 1];
      // A moment too many is as wrong as one that differs: the player would have noticed.
      if (moment < 0 ? IsMoment(state->CurrentPlayer()) : !Fits(*state, moment)) return nullptr;
    }
    return state;
  }

  // The line that was replayed last.
  std::unique_ptr<Line> Taken(const Line& line, size_t first, std::unique_ptr<State> state) const {
    auto taken = std::make_unique<Line>();
    taken->movers = line.movers;
    taken->moments = line.moments;
    taken->actions = line.actions;
    taken->weights = line.weights;
    std::copy(actions_.begin(), actions_.end(), taken->actions.begin() + first);
    std::copy(weights_.begin(), weights_.end(), taken->weights.begin() + first);
    for (const auto& one : line.kept) {
      if (one.first <= first) taken->kept.push_back(one);
    }
    taken->kept.push_back({line.actions.size(), std::move(state)});
    return taken;
  }

  // Metropolis: accept with probability min(1, exp(gain)).
  static bool IsAccepted(double gain, RandomWords& words) {
    return !(gain < 0.0 && words.Unit() >= std::exp(gain));
  }

  int Place(const std::vector<int>& others, RandomWords& words) const {
    const std::vector<int>& places = words.Unit() < settings_.elsewhere ? others : sites_;
    return places[static_cast<size_t>(words.Unit() * places.size())];
  }

  std::unique_ptr<Line> Swapped(const Line& line, const std::vector<int>& others,
                                const Budget& budget, RandomWords& words) {
    int early = Place(others, words);
    int late = Place(others, words);
    if (early > late) std::swap(early, late);
    const std::vector<Action>& actions = line.actions;
    if (line.movers[early] != line.movers[late] || actions[early] == actions[late]) return nullptr;
    return Proposed(line, early, budget, words, [&](const State&, size_t step) {
      const int now = static_cast<int>(step);
      return actions[now == early ? late : now == late ? early : now];
    });
  }

  std::unique_ptr<Line> Changed(const Line& line, const std::vector<int>& others,
                                const Budget& budget, RandomWords& words) {
    const int place = Place(others, words);
    const std::unique_ptr<State> state = line.After(place);
    std::vector<Action> possible;
    if (line.movers[place] == PLAYER_CHANCE) {
      for (const auto& outcome : state->ChanceOutcomes()) possible.push_back(outcome.first);
    } else {
      possible = state->LegalActions();
    }
    CheckSome(possible.size(), line.movers[place]);
    const Action action = possible[static_cast<size_t>(words.Unit() * possible.size())];
    if (action == line.actions[place]) return nullptr;
    return Proposed(line, place, budget, words, [&](const State&, size_t step) {
      return static_cast<int>(step) == place ? action : line.actions[step];
    });
  }

  template <typename Choose>
  std::unique_ptr<Line> Proposed(const Line& line, size_t first, const Budget& budget,
                                 RandomWords& words, Choose choose) {
    std::unique_ptr<State> state = Replayed(line, first, budget, choose);
    if (!state) return nullptr;
    double gain = 0.0, before = 0.0;
    for (size_t step = first; step < line.actions.size(); ++step) {
      gain += weights_[step - first];
      before += line.weights[step];
    }
    // The proposal is symmetric: accept by the ratio of prior probabilities. A changed early action
    // changes the number of legal moves, and so the weights, of later ones.
    if (!IsAccepted(gain - before, words)) return nullptr;
    return Taken(line, first, std::move(state));
  }

  // Redraws consecutive hidden actions, or all of them, and keeps the rest.
  std::unique_ptr<Line> Redrawn(const Line& line, const Budget& budget, RandomWords& words) {
    size_t start = 0, end = sites_.size();
    if (words.Unit() >= settings_.redraws) {
      const size_t count = 2 + static_cast<size_t>(words.Unit() * 2 * (settings_.block - 1));
      start = static_cast<size_t>(words.Unit() * sites_.size());
      end = std::min(end, start + count);
    }
    const auto anew = [&](size_t step) {
      return std::binary_search(sites_.begin() + start, sites_.begin() + end,
                                static_cast<int>(step));
    };
    const size_t first = sites_[start];
    std::unique_ptr<State> state =
        Replayed(line, first, budget, [&](const State& now, size_t step) {
          return anew(step) ? Drawn(now, line.movers[step], words).first : line.actions[step];
        });
    if (!state) return nullptr;
    // Redrawn steps come from the prior and cancel in the ratio; kept ones do not.
    double gain = 0.0;
    for (size_t step = first; step < line.actions.size(); ++step) {
      if (!anew(step)) gain += weights_[step - first] - line.weights[step];
    }
    if (!IsAccepted(gain, words)) return nullptr;
    return Taken(line, first, std::move(state));
  }

  const std::shared_ptr<const State> start_;
  const int player_;
  const bool by_information_state_;
  const bool counts_moves_;
  std::vector<Moment> moments_;

  // Of the proposal that is made.
  Proposals settings_;
  std::vector<int> sites_;
  std::vector<Action> actions_;
  std::vector<double> weights_;
};

Knowledge* Known(void* knowledge) { return static_cast<Knowledge*>(knowledge); }
const Line& Given(const void* line) { return *static_cast<const Line*>(line); }

// The pointer of what the function makes, for Python to own: null with an error noted if it throws.
template <typename Make>
void* Made(void* knowledge, Make make) noexcept {
  Known(knowledge)->failure.error = 0;
  try {
    return make(*Known(knowledge)).release();
  } catch (const Late&) {
    Known(knowledge)->failure.error = kLate;
  } catch (...) {
    Known(knowledge)->failure.NoteException();
  }
  return nullptr;
}

void* (*capsule_reader)(void*, const char*) = nullptr;

}  // namespace

extern "C" {

// What a player knows in the game that begins at a state; null if that cannot be copied.
void* histories_create(const void* start, int player, int by_information_state, int counts_moves) {
  try {
    return new Knowledge(*static_cast<const State*>(start), player, by_information_state != 0,
                         counts_moves != 0);
  } catch (...) {
    return nullptr;
  }
}

// Python's PyCapsule_GetPointer, and the destructors of capsules that own knowledge and lines.
void histories_set_capsule_reader(void* (*reader)(void*, const char*)) { capsule_reader = reader; }
void histories_release(void* capsule) {
  delete static_cast<Knowledge*>(capsule_reader(capsule, nullptr));
}
void histories_release_line(void* capsule) {
  delete static_cast<Line*>(capsule_reader(capsule, nullptr));
}

// Adds the next moment; `count` is -1 where another player moves.
void histories_add_moment(void* knowledge, int mover, const char* view, int64_t length,
                          const int64_t* legal, int64_t count, int64_t action) {
  Moment moment{mover, std::string(view, length), count >= 0, {}, action};
  if (count > 0) moment.legal.assign(legal, legal + count);
  Known(knowledge)->AddMoment(std::move(moment));
}

void* histories_adopt(void* knowledge, int64_t length, const int32_t* movers, const int64_t* actions,
                      const double* weights, const int32_t* moments) {
  return Made(knowledge, [&](Knowledge& known) {
    return known.Adopted(length, movers, actions, weights, moments);
  });
}

// See Knowledge::Continued.
void* histories_continue(void* knowledge, const void* line, int64_t* stream, double seconds,
                         int64_t* played) {
  return Made(knowledge, [&](Knowledge& known) {
    return known.Continued(static_cast<const Line*>(line), RandomWords(stream), seconds, played);
  });
}

// See Knowledge::Advanced; `steps` is the budget of actions, in and out.
void* histories_advance(void* knowledge, const void* line, int64_t proposals, const int32_t* sites,
                        int64_t num_sites, const double* settings, double* steps, double seconds,
                        int64_t* stream, int64_t* counts, int8_t* changed) {
  Budget budget(*steps, seconds);
  const Proposals proposed{{settings[0], settings[1], settings[2]}, settings[3], settings[4],
                           settings[5]};
  void* made = Made(knowledge, [&](Knowledge& known) {
    return known.Advanced(Given(line), proposals, sites, num_sites, proposed, budget,
                          RandomWords(stream), counts, changed);
  });
  *steps = budget.steps;
  return made;
}

// After a function of it has returned null: which ERROR_*, or 0, and what it says.
int histories_error(void* knowledge) { return Known(knowledge)->failure.error; }
const char* histories_message(void* knowledge) { return Known(knowledge)->failure.message.c_str(); }

int64_t histories_length(const void* line) { return Given(line).actions.size(); }

// The last state of a line, which lives as long as the line.
const void* histories_last(const void* line) { return &Given(line).last(); }

void histories_read(const void* line, int32_t* movers, int64_t* actions, double* weights,
                    int32_t* moments) {
  const Line& given = Given(line);
  std::copy(given.movers.begin(), given.movers.end(), movers);
  std::copy(given.actions.begin(), given.actions.end(), actions);
  std::copy(given.weights.begin(), given.weights.end(), weights);
  std::copy(given.moments.begin(), given.moments.end(), moments);
}

}  // extern "C"
