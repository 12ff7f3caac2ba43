// A search for a history that fits a player's knowledge: what first_history.py does for games in
// Python, with the same random numbers and so the same history.

#ifndef RAVE_OPENSPIEL_FIRST_HISTORY_H_
#define RAVE_OPENSPIEL_FIRST_HISTORY_H_

#include <iterator>
#include <limits>
#include <map>

#include "histories.h"

namespace {

// The constants of first_history.py, in the order in which it gives them.
struct RepairSettings {
  double most_actions, more_actions, patience, exchanges, longest_redraw, aimed, at_the_last_mover, swaps_outcomes,
      swaps_moves, blame, least_weight, candidates, outcomes, compared, other_mover, no_view;
};

constexpr int kClasses = 1021;  // CLASSES of first_history.py.

// Calls `take(place)` for the class of each letter and pair in a text, see first_history.py.
template <typename Take>
void ForFeatures(const std::string& text, Take take) {
  int lines = 0, first = 0;
  bool begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const int letter = static_cast<unsigned char>(text[i]);
    if (begins) first = letter;
    begins = letter == '\n';
    lines += begins;
    take((257 * first + 17 * letter + 499) % kClasses);
    if (i + 1 < text.size()) {
      const int next = static_cast<unsigned char>(text[i + 1]);
      take((131 * letter + 7 * next + 1009 * lines) % kClasses);
    }
  }
}

// How often each class occurs in the player's view at a moment, and their sum.
struct Target {
  std::vector<int> counts;
  int64_t sum = 0;
};

// A search that can be continued with more time, or when more moments are known. It never reads
// moments after the first that does not fit, so it then does what a new search would do.
class FirstHistory {
 public:
  FirstHistory(const Knowledge& knowledge, const RepairSettings& settings, const int64_t* stream)
      : knowledge_(knowledge), settings_(settings) {
    std::copy(stream, stream + 4, stream_);
    best_.states.push_back(knowledge_.start);
    best_.moments.push_back(kNone);
    Begin(0, {});
  }
  FirstHistory(const FirstHistory&) = delete;

  double played() const { return played_; }

  // A history that fits all moments, of which the first ones are those known before; null if
  // actions or time run out, or if it is impossible.
  std::unique_ptr<Line> Found(const std::vector<Moment>& moments, double seconds) {
    const Budget time(0, seconds);
    knowledge_.moments = moments;
    targets_.resize(moments.size());
    const double most = settings_.most_actions + settings_.more_actions * moments.size();
    for (;;) {
      if (!is_begun_ && played_ >= most) return nullptr;
      if (time.IsLate()) return nullptr;
      if (!is_begun_) BeginRepair();
      if (Replayed()) return Weighted(now_);
      is_begun_ = false;
      Judge();
    }
  }

 private:
  // A history up to the first moment that does not fit.
  struct Attempt {
    std::vector<int> movers;
    std::vector<Action> actions;
    std::vector<int> moments;
    std::vector<std::shared_ptr<const State>> states;
    size_t fitted = 0;    // Number of moments that fit.
    double distance = 0;  // How much the player's view differs at the next one.

    bool operator<(const Attempt& other) const {
      return fitted != other.fitted ? fitted < other.fitted : distance > other.distance;
    }

    Attempt Cut(size_t step) const {
      Attempt cut;
      cut.movers.assign(movers.begin(), movers.begin() + step);
      cut.actions.assign(actions.begin(), actions.begin() + step);
      cut.moments.assign(moments.begin(), moments.begin() + step + 1);
      cut.states.assign(states.begin(), states.begin() + step + 1);
      return cut;
    }

    void Add(Action action, int moment, std::shared_ptr<const State> state) {
      movers.push_back(states.back()->CurrentPlayer());
      actions.push_back(action);
      moments.push_back(moment);
      states.push_back(std::move(state));
    }
  };

  using Plan = std::map<size_t, Action>;

  size_t Place(size_t count) { return static_cast<size_t>(words_.Unit() * count); }

  std::unique_ptr<Line> Weighted(const Attempt& found) const {
    auto line = std::make_unique<Line>();
    for (size_t step = 0; step < found.actions.size(); ++step) {
      const int mover = found.movers[step];
      const double weight = LogProbability(*found.states[step], mover, found.actions[step]);
      if (std::isnan(weight)) return nullptr;
      line->weights.push_back(mover == knowledge_.player ? 0.0 : weight);
    }
    line->movers = found.movers;
    line->actions = found.actions;
    line->moments = found.moments;
    for (size_t step = 0; step + 1 < found.states.size(); step += kGap) {
      line->kept.push_back({step, found.states[step]});
    }
    line->kept.push_back({found.actions.size(), found.states.back()});
    return line;
  }

  // Begins to replay the best line from a step, with planned actions. Steps keep their actions where
  // they are legal and fit; others draw new ones.
  void Begin(size_t first, Plan plan) {
    now_ = best_.Cut(first);
    // It fits: all histories begin there.
    if (first == 0 && knowledge_.IsMoment(now_.states[0]->CurrentPlayer())) now_.moments[0] = 0;
    now_.fitted = 1 + *std::max_element(now_.moments.begin(), now_.moments.end());
    plan_ = std::move(plan);
    end_ = first + LONGEST_GAME;
    is_begun_ = true;
    is_repair_ = false;
    blamed_ = kNoStep;
  }

  // Begins to change the action at a random step, or to redraw several.
  void BeginRepair() {
    const std::vector<size_t> sites = Sites(best_);
    Plan plan;
    size_t blamed = kNoStep;
    if (!sites.empty()) {
      std::vector<double> sums;
      for (size_t step : sites) sums.push_back((sums.empty() ? 0.0 : sums.back()) + Weight(step));
      const auto place =
          std::upper_bound(sums.begin(), sums.end() - 1, words_.Unit() * sums.back());
      const size_t step = sites[place - sums.begin()];
      if (words_.Unit() >= settings_.exchanges) {
        const size_t last = step + Place(static_cast<size_t>(settings_.longest_redraw));
        // No action has this number, so that each of these steps draws one.
        for (size_t each = step; each <= last; ++each) plan[each] = kNone;
      } else {
        plan = Exchange(best_, step);
        blamed = step;
      }
    }
    const size_t first = plan.empty() ? 0 : plan.begin()->first;
    Begin(first, std::move(plan));
    is_repair_ = true;
    blamed_ = blamed;
  }

  // Takes the replay that has ended for the best line, unless it is worse.
  void Judge() {
    if (!is_repair_) {
      best_ = std::move(now_);
      return;
    }
    const bool worse = now_ < best_;
    if (blamed_ != kNoStep) {
      double& weight = Weight(blamed_);
      weight = worse ? std::max(settings_.least_weight, settings_.blame * weight) : 1.0;
    }
    if (now_.fitted > best_.fitted) {
      forgotten_ = 1;
      weights_.clear();
    }
    stale_ = best_ < now_ ? 0 : stale_ + 1;
    // Equal ones too: what must change together may look no better until all has changed.
    if (!worse) {
      best_ = std::move(now_);
    } else if (stale_ >= settings_.patience) {
      BeginAgain();
    }
  }

  // Forgets the last moments that fit, and begins to draw on from there.
  void BeginAgain() {
    std::vector<size_t> places;
    for (size_t step = 0; step < best_.moments.size(); ++step) {
      if (best_.moments[step] != kNone) places.push_back(step);
    }
    const size_t count = places.size();
    best_ = best_.Cut(forgotten_ < count ? places[count - 1 - forgotten_] : 0);
    stale_ = 0;
    forgotten_ *= 2;
    weights_.clear();
    Begin(best_.movers.size(), {});
  }

  double& Weight(size_t step) {
    if (step >= weights_.size()) weights_.resize(step + 1, 1.0);
    return weights_[step];
  }

  // Steps for a repair: of the others, and mostly those which matter at the failing moment.
  std::vector<size_t> Sites(const Attempt& line) {
    std::vector<size_t> sites;
    for (size_t step = 0; step < line.movers.size(); ++step) {
      if (line.movers[step] != knowledge_.player) sites.push_back(step);
    }
    if (sites.empty() || words_.Unit() >= settings_.aimed) return sites;
    const int last = line.movers.back(), player = knowledge_.player;
    const int wanted =
        last >= 0 && words_.Unit() < settings_.at_the_last_mover ? last : player;
    std::vector<size_t> seen;
    for (size_t step : sites) {
      const std::vector<bool>& witnesses = SeenBy(line, step);
      if (witnesses[wanted] && (wanted == player || !witnesses[player])) seen.push_back(step);
    }
    return seen.empty() ? sites : seen;
  }

  // Whether each player's view was changed by the action at a step, when this was first asked.
  const std::vector<bool>& SeenBy(const Attempt& line, size_t step) {
    std::vector<bool>& witnesses = witnesses_[step];
    if (witnesses.empty()) {
      const State &before = *line.states[step], &after = *line.states[step + 1];
      for (int player = 0; player < before.NumPlayers(); ++player) {
        witnesses.push_back(Text(before, player) != Text(after, player));
      }
    }
    return witnesses;
  }

  // A view; empty where the game shows none, as some do during the deal, or at the end.
  std::string Text(const State& state, int player) const {
    try {
      return knowledge_.View(state, player);
    } catch (const std::exception& error) {
      if (!IsSpielError(error)) throw;
      return "";
    }
  }

  // Another action for a step, and its old one for a step that has that action.
  Plan Exchange(const Attempt& line, size_t step) {
    const int mover = line.movers[step];
    const Action old = line.actions[step];
    // Legal actions include what is dealt later, but not what was dealt before.
    std::vector<Action> options = line.states[step]->LegalActions();
    for (size_t other = 0; other < line.movers.size(); ++other) {
      if (line.movers[other] == mover) options.push_back(line.actions[other]);
    }
    std::sort(options.begin(), options.end());
    options.erase(std::unique(options.begin(), options.end()), options.end());
    options.erase(std::remove(options.begin(), options.end(), old), options.end());
    if (options.empty()) return {{step, old}};
    const Action action = options[Place(options.size())];
    std::vector<size_t> holders;
    for (size_t other = 0; other < line.movers.size(); ++other) {
      if (line.movers[other] == mover && line.actions[other] == action) holders.push_back(other);
    }
    Plan plan = {{step, action}};
    const double swaps = mover < 0 ? settings_.swaps_outcomes : settings_.swaps_moves;
    if (!holders.empty() && words_.Unit() < swaps) plan[holders[Place(holders.size())]] = old;
    return plan;
  }

  // Replays up to a moment that does not fit; true if all moments fit.
  bool Replayed() {
    for (;;) {
      if (now_.fitted == knowledge_.moments.size()) return true;
      const size_t step = now_.movers.size();
      const State& state = *now_.states.back();
      const int mover = state.CurrentPlayer();
      if (step >= end_ || state.IsTerminal()) {
        now_.distance = settings_.no_view;
        return false;
      }
      Action wanted = kNone;
      double most = 0;
      if (mover == knowledge_.player) {
        wanted = knowledge_.moments[now_.fitted - 1].action;
        rest_ = {wanted};
      } else {
        const auto planned = plan_.find(step);
        if (planned != plan_.end()) {
          wanted = planned->second;
        } else if (step < best_.movers.size() && best_.movers[step] == mover) {
          wanted = best_.actions[step];
        }
        rest_ = state.LegalActions();
        most = mover == PLAYER_CHANCE ? settings_.outcomes : settings_.candidates;
      }
      const auto place = std::find(rest_.begin(), rest_.end(), wanted);
      const bool legal = place != rest_.end();
      if (legal) rest_.erase(place);
      if (!Extended(now_, wanted, legal, static_cast<size_t>(most))) return false;
      now_.fitted += now_.moments.back() != kNone;
    }
  }

  // Appends the first action after which the player's view is right, or the nearest: the wanted
  // one, if it is legal, then some of `rest_` in random order. True for the right view, or if the
  // next state is no moment; else the distance is noted.
  bool Extended(Attempt& line, Action wanted, bool legal, size_t most) {
    const size_t others = std::min(most, rest_.size());
    const State& state = *line.states.back();
    CheckSome(legal + others, state.CurrentPlayer());
    std::shared_ptr<const State> nearest;
    double distance = 0;
    Action nearest_action = kNone;
    for (size_t tried = 0; tried < legal + others; ++tried) {
      Action action = wanted;
      if (tried >= static_cast<size_t>(legal)) {
        // Fisher-Yates, as far as it is needed.
        const size_t place = tried - legal;
        std::swap(rest_[place], rest_[place + Place(rest_.size() - place)]);
        action = rest_[place];
      }
      played_ += 1;
      std::shared_ptr<const State> next = state.Child(action);
      const bool ended = next->IsTerminal();
      const int mover = next->CurrentPlayer();
      if (!ended && !knowledge_.IsMoment(mover)) {
        line.Add(action, kNone, std::move(next));
        return true;
      }
      const Moment& moment = knowledge_.moments[line.fitted];
      bool same = !ended && mover == moment.mover;
      std::string view;
      if (same) {
        view = knowledge_.View(*next, knowledge_.player);
        same = view == moment.view;
        if (same && (!moment.own || next->LegalActions() == moment.legal)) {
          line.Add(action, static_cast<int>(line.fitted), std::move(next));
          return true;
        }
      } else if (!ended && tried < settings_.compared) {
        view = Text(*next, knowledge_.player);
      }
      if (tried >= settings_.compared) continue;
      const double found = ended ? settings_.no_view : Distance(*next, line.fitted, view);
      if (!nearest || std::make_pair(found, action) < std::make_pair(distance, nearest_action)) {
        nearest = std::move(next);
        distance = found;
        nearest_action = action;
      }
    }
    line.Add(nearest_action, kNone, std::move(nearest));
    line.distance = distance;
    return false;
  }

  // How much the player's view of a state differs from that at a moment.
  double Distance(const State& state, size_t number, const std::string& view) {
    const Moment& moment = knowledge_.moments[number];
    Target& target = targets_[number];
    if (target.counts.empty()) {
      target.counts.assign(kClasses, 0);
      ForFeatures(moment.view, [&](int place) {
        ++target.counts[place];
        ++target.sum;
      });
    }
    int64_t distance = target.sum;
    ForFeatures(view, [&](int place) { distance += target.counts[place]-- > 0 ? -1 : 1; });
    ForFeatures(view, [&](int place) { ++target.counts[place]; });
    if (state.CurrentPlayer() != moment.mover) return static_cast<double>(distance) + settings_.other_mover;
    if (!moment.own) return static_cast<double>(distance);
    std::vector<Action> legal = state.LegalActions(), other = moment.legal, unlike;
    std::sort(legal.begin(), legal.end());
    std::sort(other.begin(), other.end());
    std::set_symmetric_difference(legal.begin(), legal.end(), other.begin(), other.end(),
                                  std::back_inserter(unlike));
    return static_cast<double>(distance + unlike.size());
  }

  static constexpr size_t kNoStep = std::numeric_limits<size_t>::max();

  Knowledge knowledge_;
  const RepairSettings settings_;
  int64_t stream_[4];
  RandomWords words_{stream_};
  double played_ = 0;     // The number of actions played so far.
  double stale_ = 0;      // Repairs without progress.
  size_t forgotten_ = 1;  // Moments to forget when the patience ends.
  Attempt best_;
  bool is_begun_ = false;  // Whether a replay of the best line, as follows, is not over.
  Attempt now_;
  Plan plan_;
  size_t end_ = 0;               // The step at which it has become too long.
  bool is_repair_ = false;       // Or it replaces the best line, however it ends.
  size_t blamed_ = kNoStep;      // The step whose weight depends on how it ends.
  std::vector<Target> targets_;   // Of the moments compared so far.
  std::vector<double> weights_;                     // Of the steps, for a repair there.
  std::map<size_t, std::vector<bool>> witnesses_;
  std::vector<Action> rest_;
};

}  // namespace

#endif  // RAVE_OPENSPIEL_FIRST_HISTORY_H_
