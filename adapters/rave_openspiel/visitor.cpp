// Visits of histories of OpenSpiel's C++ games: the contract of rave_agents/simulate/visits.py on
// open_spiel::State.
//
// native_library.py compiles this file and defines on the command line, from the Python
// enumerations: VISIT_*, the places in the header; ANSWERED_*; PLAYER_*; ERROR_*; LONGEST_GAME.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "open_spiel/spiel.h"

namespace {

using open_spiel::Action;
using open_spiel::ActionsAndProbs;
using open_spiel::State;

// An answer that breaks the common interface: GameError in Python.
class BrokenGame : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class EndlessGame {};

template <typename... Parts>
[[noreturn]] void Refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw BrokenGame(message.str());
}

struct Key {
  uint64_t first = 0x243F6A8885A308D3;
  uint64_t second = 0x13198A2E03707344;

  // The finalizer of MurmurHash3, by two constants of each word.
  static uint64_t Mixed(uint64_t word, uint64_t one, uint64_t other) {
    word = (word ^ (word >> 33)) * one;
    word = (word ^ (word >> 29)) * other;
    return word ^ (word >> 32);
  }

  void Add(uint64_t word) {
    first = Mixed(first * 0x9E3779B97F4A7C15 + word, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53);
    second = Mixed((second ^ word) + 0xD1B54A32D192ED03, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB);
  }

  void Add(const std::string& text) {
    for (size_t at = 0; at < text.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
      Add(word);
    }
    Add(text.size());
  }
};

// Opens what State keeps to its subclasses.
struct Opened : State {
  // Does the work of State::ApplyActions, which is not virtual.
  static void ApplyActions(State& state, const std::vector<Action>& actions) {
    (state.*&Opened::DoApplyActions)(actions);
    for (size_t player = 0; player < actions.size(); ++player) {
      (state.*&Opened::history_).push_back({static_cast<int>(player), actions[player]});
    }
    ++(state.*&Opened::move_number_);
  }
};

// xoshiro128++, as in random_stream.py.
class RandomWords {
 public:
  explicit RandomWords(int64_t* stream) : stream_(stream) {}

  int64_t Below(int64_t bound) { return static_cast<int64_t>((Word() * bound) >> 32); }
  double Unit() { return static_cast<double>(Word()) / 4294967296.0; }

 private:
  static uint32_t Rotated(uint32_t word, int bits) {
    return (word << bits) | (word >> (32 - bits));
  }

  uint64_t Word() {
    uint32_t first = static_cast<uint32_t>(stream_[0]);
    uint32_t second = static_cast<uint32_t>(stream_[1]);
    uint32_t third = static_cast<uint32_t>(stream_[2]);
    uint32_t fourth = static_cast<uint32_t>(stream_[3]);
    const uint32_t word = Rotated(first + fourth, 7) + first;
    const uint32_t shifted = second << 9;
    third ^= first;
    fourth ^= second;
    stream_[1] = second ^ third;
    stream_[0] = first ^ fourth;
    stream_[2] = third ^ shifted;
    stream_[3] = Rotated(fourth, 11);
    return word;
  }

  int64_t* stream_;
};

// What a visitor knows of a history.
struct Level {
  std::shared_ptr<const State> state;
  // Where players move at the same time: who does, and the choices of the first ones.
  std::vector<int> movers;
  std::vector<Action> chosen;
  Key moves;               // Of the moves that are over, which perfect information shows.
  std::vector<Key> views;  // Of each player's own decisions, for games without information states.

  int Player() const {
    if (!movers.empty()) return movers[chosen.size()];
    return state->CurrentPlayer();
  }
};

enum Knowledge { kMoves = 0, kInformationState = 1, kObservations = 2 };

// Visits histories from a start. One thread at a time may use it.
class Visitor {
 public:
  Visitor(const State& start, int knowledge) : knowledge_(static_cast<Knowledge>(knowledge)) {
    Level level;
    level.state = start.Clone();
    if (knowledge_ == kObservations) level.views.resize(start.NumPlayers());
    FindMovers(level);
    levels_.push_back(std::move(level));
  }

  int32_t Visit(int64_t* header) noexcept {
    try {
      return Run(header);
    } catch (const BrokenGame& error) {
      error_ = ERROR_GAME;
      message_ = error.what();
    } catch (const EndlessGame&) {
      error_ = ERROR_ENDLESS;
      message_.clear();
    } catch (const std::bad_alloc&) {
      error_ = ERROR_MEMORY;
      message_.clear();
    } catch (const std::exception& error) {
      // pyspiel's handler of SpielFatalError throws a type that no header declares.
      const bool fatal = std::strstr(typeid(error).name(), "SpielException");
      error_ = fatal ? ERROR_SPIEL : ERROR_OTHER;
      message_ = error.what();
    } catch (...) {
      error_ = ERROR_OTHER;
      message_ = "OpenSpiel threw an object that is no std::exception.";
    }
    return ANSWERED_FAILED;
  }

  int error() const { return error_; }
  const char* message() const { return message_.c_str(); }

 private:
  template <typename T>
  static T* Buffer(int64_t* header, int place) {
    return reinterpret_cast<T*>(header[place]);
  }

  int32_t Run(int64_t* header) {
    const Action* path = Buffer<int64_t>(header, VISIT_PATH);
    const size_t length = header[VISIT_LENGTH];
    // The levels of the last path serve as far as both paths agree.
    size_t same = 0;
    while (same < std::min(length, actions_.size()) && actions_[same] == path[same]) ++same;
    levels_.resize(same + 1);
    actions_.resize(same);
    for (size_t depth = same; depth < length; ++depth) {
      if (depth > LONGEST_GAME) throw EndlessGame();
      levels_.push_back(After(levels_.back(), path[depth]));
      actions_.push_back(path[depth]);
    }
    const Level& level = levels_.back();
    const int player = level.Player();
    header[VISIT_PLAYER] = player;
    header[VISIT_NUM_ACTIONS] = 0;
    if (player == PLAYER_TERMINAL) {
      GiveReturns(*level.state, header);
      return ANSWERED_DONE;
    }
    if (header[VISIT_PLAYOUT]) {
      Playout(level, header);
      return ANSWERED_DONE;
    }
    if (player == PLAYER_CHANCE) return ListOutcomes(*level.state, header);
    CheckPlayer(*level.state, player);
    const Key key = KeyOf(level, player);
    std::memcpy(&header[VISIT_FIRST_KEY], &key.first, sizeof(key.first));
    std::memcpy(&header[VISIT_SECOND_KEY], &key.second, sizeof(key.second));
    const std::vector<Action> legal = level.state->LegalActions(player);
    if (legal.empty()) {
      Refuse("legal_actions() is empty for player ", player, ", but the state is not terminal.");
    }
    if (!HasRoom(header, legal.size())) return ANSWERED_FULL;
    std::copy(legal.begin(), legal.end(), Buffer<int64_t>(header, VISIT_ACTIONS));
    return ANSWERED_DONE;
  }

  static bool HasRoom(int64_t* header, size_t count) {
    header[VISIT_NUM_ACTIONS] = count;
    header[VISIT_REQUIRED_ACTIONS] = count;
    return static_cast<int64_t>(count) <= header[VISIT_CAPACITY];
  }

  static ActionsAndProbs CheckedOutcomes(const State& state) {
    ActionsAndProbs outcomes = state.ChanceOutcomes();
    double total = 0.0;
    for (const auto& outcome : outcomes) total += outcome.second;
    if (!(std::abs(total - 1.0) < CHANCE_ROUNDING)) {
      Refuse("The probabilities of chance_outcomes() sum to ", total, ", not to 1.");
    }
    return outcomes;
  }

  static int32_t ListOutcomes(const State& state, int64_t* header) {
    const ActionsAndProbs outcomes = CheckedOutcomes(state);
    if (!HasRoom(header, outcomes.size())) return ANSWERED_FULL;
    int64_t* actions = Buffer<int64_t>(header, VISIT_ACTIONS);
    double* chances = Buffer<double>(header, VISIT_CHANCES);
    for (const auto& [action, probability] : outcomes) {
      *actions++ = action;
      *chances++ = probability;
    }
    return ANSWERED_DONE;
  }

  static void CheckPlayer(const State& state, int player) {
    if (player >= 0 && player < state.NumPlayers()) return;
    Refuse("current_player() gave ", player, ": a search needs a player from 0 to ",
           state.NumPlayers() - 1, ", CHANCE (", PLAYER_CHANCE, "), SIMULTANEOUS (",
           PLAYER_SIMULTANEOUS, ") or TERMINAL (", PLAYER_TERMINAL, ").");
  }

  Key KeyOf(const Level& level, int player) const {
    Key key;
    switch (knowledge_) {
      case kMoves:
        key = level.moves;
        break;
      case kInformationState:
        key.Add(level.state->InformationStateString(player));
        break;
      case kObservations:
        key = level.views[player];
        key.Add(level.state->ObservationString(player));
        break;
    }
    key.Add(static_cast<uint64_t>(player));
    return key;
  }

  Level After(const Level& before, Action action) const {
    Level level;
    const int player = before.Player();
    level.moves = before.moves;
    level.views = before.views;
    if (knowledge_ == kObservations && player >= 0) {
      level.views[player].Add(before.state->ObservationString(player));
      level.views[player].Add(static_cast<uint64_t>(action));
    }
    if (before.movers.empty()) {
      std::unique_ptr<State> state = before.state->Clone();
      state->ApplyAction(action);
      level.moves.Add(static_cast<uint64_t>(action));
      level.state = std::move(state);
    } else {
      level.chosen = before.chosen;
      level.chosen.push_back(action);
      if (level.chosen.size() < before.movers.size()) {
        level.state = before.state;
        level.movers = before.movers;
        return level;
      }
      std::unique_ptr<State> state = before.state->Clone();
      ApplyJoint(*state, before.movers, level.chosen);
      for (Action taken : level.chosen) level.moves.Add(static_cast<uint64_t>(taken));
      level.chosen.clear();
      level.state = std::move(state);
    }
    FindMovers(level);
    return level;
  }

  static void ApplyJoint(State& state, const std::vector<int>& movers,
                         const std::vector<Action>& chosen) {
    std::vector<Action> joint(state.NumPlayers(), NO_ACTION);
    for (size_t i = 0; i < movers.size(); ++i) joint[movers[i]] = chosen[i];
    Opened::ApplyActions(state, joint);
  }

  static void FindMovers(Level& level) {
    if (level.state->CurrentPlayer() != PLAYER_SIMULTANEOUS) return;
    level.movers = MoversOf(*level.state);
  }

  static std::vector<int> MoversOf(const State& state) {
    std::vector<int> movers;
    for (int player = 0; player < state.NumPlayers(); ++player) {
      if (!state.LegalActions(player).empty()) movers.push_back(player);
    }
    if (movers.empty()) {
      Refuse("legal_actions(player) is empty for every player, but the state is not terminal.");
    }
    return movers;
  }

  // Plays at random to the end, as state_visitor.py does.
  static void Playout(const Level& level, int64_t* header) {
    RandomWords words(Buffer<int64_t>(header, VISIT_STREAM));
    const std::unique_ptr<State> state = level.state->Clone();
    std::vector<Action> chosen = level.chosen;
    int moves = 0;
    for (int player; (player = state->CurrentPlayer()) != PLAYER_TERMINAL;) {
      if (++moves > LONGEST_GAME) throw EndlessGame();
      if (player == PLAYER_CHANCE) {
        double unit = words.Unit();
        const ActionsAndProbs outcomes = CheckedOutcomes(*state);
        Action drawn = outcomes.back().first;
        for (const auto& [action, probability] : outcomes) {
          unit -= probability;
          if (unit < 0.0) {
            drawn = action;
            break;
          }
        }
        state->ApplyAction(drawn);
        continue;
      }
      const bool together = player == PLAYER_SIMULTANEOUS;
      if (!together) CheckPlayer(*state, player);
      const std::vector<int> movers = together ? MoversOf(*state) : std::vector<int>{player};
      while (chosen.size() < movers.size()) {
        const std::vector<Action> legal = state->LegalActions(movers[chosen.size()]);
        if (legal.empty()) Refuse("legal_actions() is empty, but the state is not terminal.");
        chosen.push_back(legal[words.Below(static_cast<int64_t>(legal.size()))]);
      }
      if (together) {
        ApplyJoint(*state, movers, chosen);
      } else {
        state->ApplyAction(chosen[0]);
      }
      chosen.clear();
    }
    GiveReturns(*state, header);
  }

  static void GiveReturns(const State& state, int64_t* header) {
    const std::vector<double> returns = state.Returns();
    const size_t players = header[VISIT_NUM_PLAYERS];
    if (returns.size() != players) {
      Refuse("Expected returns for ", players, " players, got ", returns.size(), ".");
    }
    for (double value : returns) {
      if (!std::isfinite(value)) Refuse("Returns must be finite numbers, got ", value, ".");
    }
    std::copy(returns.begin(), returns.end(), Buffer<double>(header, VISIT_RETURNS));
  }

  const Knowledge knowledge_;
  std::vector<Level> levels_;    // The histories on the last path, the start first.
  std::vector<Action> actions_;  // That path.
  int error_ = 0;
  std::string message_;
};

}  // namespace

extern "C" {

// A visitor of the histories that begin at a copy of a state; null if it cannot be copied.
void* visitor_create(const void* start, int knowledge) {
  try {
    return new Visitor(*static_cast<const State*>(start), knowledge);
  } catch (...) {
    return nullptr;
  }
}

void visitor_release(void* visitor) { delete static_cast<Visitor*>(visitor); }

// After ANSWERED_FAILED: which ERROR_*, and its message.
int visitor_error(const void* visitor) { return static_cast<const Visitor*>(visitor)->error(); }
const char* visitor_message(const void* visitor) {
  return static_cast<const Visitor*>(visitor)->message();
}

int32_t visitor_visit(int64_t* header) {
  return reinterpret_cast<Visitor*>(header[VISIT_PROVIDER])->Visit(header);
}

}  // extern "C"
