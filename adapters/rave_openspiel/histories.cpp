// Histories that fit a player's knowledge, replayed on OpenSpiel's C++ states: what knowledge.py,
// history_chain.py and first_history.py do for games in Python, with the same random numbers and so
// the same histories.
//
// native_library.py compiles this file and defines on the command line, from the Python
// enumerations: PLAYER_*; ERROR_*; LONGEST_GAME.

#include <limits>

#include "first_history.h"

namespace {

constexpr int kLate = -1;  // In the place of an ERROR_*: the time was over.

constexpr int kKinds = 3;  // Of proposals: swap two actions, change one, redraw several.

// How the chain draws its proposals, see history_chain.py.
struct Proposals {
  double kinds[kKinds];
  double elsewhere;
  double redraws;
  double block;
};

// Histories that fit a player's knowledge. One thread at a time may use it.
class Histories {
 public:
  Histories(const State& start, int player, bool by_information_state, bool counts_moves)
      : knowledge_{start.Clone(), player, by_information_state, counts_moves, {}} {}

  void AddMoment(Moment moment) { knowledge_.moments.push_back(std::move(moment)); }

  // A line of these actions, which fit.
  std::unique_ptr<Line> Adopted(size_t length, const int32_t* movers, const int64_t* actions,
                                const double* weights, const int32_t* moments) const {
    auto line = std::make_unique<Line>();
    line->movers.assign(movers, movers + length);
    line->actions.assign(actions, actions + length);
    line->weights.assign(weights, weights + length);
    line->moments.assign(moments, moments + length + 1);
    line->kept.push_back({0, knowledge_.start});
    if (length > 0) {
      std::unique_ptr<State> state = knowledge_.start->Clone();
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
      if (knowledge_.IsMoment(state->CurrentPlayer())) {
        line->moments[0] = 0;
        *played = 1;
        return knowledge_.Fits(*state, 0) ? std::move(line) : nullptr;
      }
    } else {
      moment = line->moments.back() + 1;
      const Action action = knowledge_.moments[moment - 1].action;
      if (action != kNone) {
        Add(*line, *state, knowledge_.player, action, 0.0);
        *played = 1;
      }
    }
    for (int moves = 0; *played == 0 || !knowledge_.IsMoment(state->CurrentPlayer()); ++moves) {
      budget.LookAtClock();
      if (moves > LONGEST_GAME) throw EndlessGame();
      if (state->IsTerminal()) return nullptr;
      const int mover = state->CurrentPlayer();
      const auto [action, weight] = Drawn(*state, mover, words);
      Add(*line, *state, mover, action, weight);
      ++*played;
    }
    line->moments.back() = moment;
    if (!knowledge_.Fits(*state, moment)) return nullptr;
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
      if (from.movers[step] != knowledge_.player) others.push_back(static_cast<int>(step));
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

  // A new search for a history, see first_history.h.
  std::unique_ptr<FirstHistory> Search(const RepairSettings& settings, const int64_t* stream) const {
    return std::make_unique<FirstHistory>(knowledge_, settings, stream);
  }

  std::unique_ptr<Line> Found(FirstHistory& search, double seconds) const {
    return search.Found(knowledge_.moments, seconds);
  }

  Failure failure;

 private:
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
      if (mover != knowledge_.player) {  // The player's own are legal: the views agree so far.
        action = choose(*state, step);
        weight = LogProbability(*state, mover, action);
        if (std::isnan(weight)) return nullptr;
      }
      actions_.push_back(action);
      weights_.push_back(weight);
      state->ApplyAction(action);
      const int moment = line.moments[step + 1];
      // A moment too many is as wrong as one that differs: the player would have noticed.
      if (moment < 0 ? knowledge_.IsMoment(state->CurrentPlayer()) : !knowledge_.Fits(*state, moment)) return nullptr;
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

  Knowledge knowledge_;

  // Of the proposal that is made.
  Proposals settings_;
  std::vector<int> sites_;
  std::vector<Action> actions_;
  std::vector<double> weights_;
};

Histories* Known(void* knowledge) { return static_cast<Histories*>(knowledge); }
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
    return new Histories(*static_cast<const State*>(start), player, by_information_state != 0,
                         counts_moves != 0);
  } catch (...) {
    return nullptr;
  }
}

// Python's PyCapsule_GetPointer, and the destructors of capsules that own knowledge, searches and lines.
void histories_set_capsule_reader(void* (*reader)(void*, const char*)) { capsule_reader = reader; }
void histories_release(void* capsule) {
  delete static_cast<Histories*>(capsule_reader(capsule, nullptr));
}
void histories_release_search(void* capsule) {
  delete static_cast<FirstHistory*>(capsule_reader(capsule, nullptr));
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
  return Made(knowledge, [&](Histories& known) {
    return known.Adopted(length, movers, actions, weights, moments);
  });
}

// See Histories::Continued.
void* histories_continue(void* knowledge, const void* line, int64_t* stream, double seconds,
                         int64_t* played) {
  return Made(knowledge, [&](Histories& known) {
    return known.Continued(static_cast<const Line*>(line), RandomWords(stream), seconds, played);
  });
}

// A new search for a history, which Python owns.
void* histories_search(void* knowledge, const double* settings, const int64_t* stream) {
  RepairSettings repairs;
  std::memcpy(&repairs, settings, sizeof repairs);
  return Made(knowledge, [&](Histories& known) { return known.Search(repairs, stream); });
}

// See FirstHistory::Found: null without an error if none was found.
void* histories_find(void* knowledge, void* search, double seconds) {
  return Made(knowledge, [&](Histories& known) {
    return known.Found(*static_cast<FirstHistory*>(search), seconds);
  });
}

double histories_played(const void* search) {
  return static_cast<const FirstHistory*>(search)->played();
}

// See Histories::Advanced; `steps` is the budget of actions, in and out.
void* histories_advance(void* knowledge, const void* line, int64_t proposals, const int32_t* sites,
                        int64_t num_sites, const double* settings, double* steps, double seconds,
                        int64_t* stream, int64_t* counts, int8_t* changed) {
  Budget budget(*steps, seconds);
  const Proposals proposed{{settings[0], settings[1], settings[2]}, settings[3], settings[4],
                           settings[5]};
  void* made = Made(knowledge, [&](Histories& known) {
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
