// Visits of histories of OpenSpiel's C++ games: the contract of rave_agents/simulate/visits.py on
// open_spiel::State.
//
// native_library.py compiles this file and defines on the command line, from the Python
// enumerations: VISIT_*, the places in the header; ANSWERED_*; PLAYER_*; ERROR_*; LONGEST_GAME.

#include "states.h"

namespace {

// Keys begin at digits of pi: keys of many zeros differ from each other.
constexpr Key kFirstKey = {0x243F6A8885A308D3, 0x13198A2E03707344};

// What a visitor knows of a history.
struct Level {
  std::shared_ptr<const State> state;
  // Where players move at the same time: who does, and the choices of the first ones.
  std::vector<int> movers;
  std::vector<Action> chosen;
  Key moves = kFirstKey;   // Of the moves that are over, which perfect information shows.
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
    if (knowledge_ == kObservations) level.views.resize(start.NumPlayers(), kFirstKey);
    FindMovers(level);
    levels_.push_back(std::move(level));
  }

  int32_t Visit(int64_t* header) noexcept {
    try {
      return Run(header);
    } catch (...) {
      failure_.NoteException();
    }
    return ANSWERED_FAILED;
  }

  int error() const { return failure_.error; }
  const char* message() const { return failure_.message.c_str(); }

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
      GiveReturns(*level.state, header[VISIT_NUM_PLAYERS], Buffer<double>(header, VISIT_RETURNS));
      return ANSWERED_DONE;
    }
    if (header[VISIT_PLAYOUT]) {
      Playout(level, header);
      return ANSWERED_DONE;
    }
    if (player == PLAYER_CHANCE) return ListOutcomes(*level.state, header);
    CheckPlayer(player, level.state->NumPlayers());
    const Key key = KeyOf(level, player);
    std::memcpy(&header[VISIT_FIRST_KEY], &key.first, sizeof(key.first));
    std::memcpy(&header[VISIT_SECOND_KEY], &key.second, sizeof(key.second));
    const std::vector<Action> legal = level.state->LegalActions(player);
    CheckSome(legal.size(), player);
    if (!HasRoom(header, legal.size())) return ANSWERED_FULL;
    std::copy(legal.begin(), legal.end(), Buffer<int64_t>(header, VISIT_ACTIONS));
    return ANSWERED_DONE;
  }

  static bool HasRoom(int64_t* header, size_t count) {
    header[VISIT_NUM_ACTIONS] = count;
    header[VISIT_REQUIRED_ACTIONS] = count;
    return static_cast<int64_t>(count) <= header[VISIT_CAPACITY];
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

  Key KeyOf(const Level& level, int player) const {
    Key key = kFirstKey;
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
    Movers movers;
    movers.Find(*level.state);
    level.movers = std::move(movers.players);
  }

  // Plays at random to the end, as state_visitor.py does.
  static void Playout(const Level& level, int64_t* header) {
    RandomWords words(Buffer<int64_t>(header, VISIT_STREAM));
    const std::unique_ptr<State> state = level.state->Clone();
    std::vector<Action> chosen = level.chosen;
    Movers movers;
    int moves = 0;
    for (int player; (player = state->CurrentPlayer()) != PLAYER_TERMINAL;) {
      if (++moves > LONGEST_GAME) throw EndlessGame();
      if (player == PLAYER_CHANCE) {
        const double unit = words.Unit();
        state->ApplyAction(SampledOutcome(CheckedOutcomes(*state), unit));
        continue;
      }
      if (player == PLAYER_SIMULTANEOUS) {
        movers.Find(*state);
        while (chosen.size() < movers.players.size()) {
          chosen.push_back(Drawn(movers.actions[chosen.size()], words));
        }
        ApplyJoint(*state, movers.players, chosen);
      } else {
        CheckPlayer(player, state->NumPlayers());
        const std::vector<Action> legal = state->LegalActions(player);
        CheckSome(legal.size(), player);
        state->ApplyAction(Drawn(legal, words));
      }
      chosen.clear();
    }
    GiveReturns(*state, header[VISIT_NUM_PLAYERS], Buffer<double>(header, VISIT_RETURNS));
  }

  static Action Drawn(const std::vector<Action>& actions, RandomWords& words) {
    return actions[words.Below(static_cast<int64_t>(actions.size()))];
  }

  const Knowledge knowledge_;
  std::vector<Level> levels_;    // The histories on the last path, the start first.
  std::vector<Action> actions_;  // That path.
  Failure failure_;
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
