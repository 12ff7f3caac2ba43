// Expansions of OpenSpiel's C++ states for the solver: the contract of
// rave_agents/simulate/expansion.py on open_spiel::State.
//
// native_library.py compiles this file and defines on the command line, from the Python
// enumerations: PLACE_*, the places in the header; ANSWERED_*; PLAYER_TERMINAL.

#include "states.h"

namespace {

// Positions one move after the other from a root. One thread at a time may use it.
class Expander {
 public:
  // Positions are told apart by their texts, or by the moves since a start that `start` tells.
  explicit Expander(bool by_text) : by_text_(by_text) {}

  void SetRoot(const State& state, Key start) {
    levels_.clear();
    levels_.emplace_back();
    root_ = state.Clone();
    if (by_text_) {
      root_key_ = TextKey(*root_, start);
    } else {
      root_key_ = start;
      for (Action action : root_->History()) root_key_.Add(static_cast<uint64_t>(action));
    }
    start_ = start;
  }

  Key root_key() const { return root_key_; }
  const char* message() const { return message_.c_str(); }

  int32_t Expand(int64_t* header) noexcept {
    try {
      return Run(header);
    } catch (const std::exception& error) {
      message_ = error.what();
    } catch (...) {
      message_ = "OpenSpiel threw an object that is no std::exception.";
    }
    return ANSWERED_FAILED;
  }

 private:
  struct Child {
    Action action;
    std::unique_ptr<State> state;
    Key key;
  };

  static Key TextKey(const State& state, Key key) {
    key.Add(static_cast<uint64_t>(state.CurrentPlayer()));
    key.Add(state.ToString());
    return key;
  }

  int32_t Run(int64_t* header) {
    const size_t depth = header[PLACE_DEPTH];
    const State* state = root_.get();
    Key key = root_key_;
    if (depth > 0) {
      const Action action = header[PLACE_ACTION];
      const std::vector<Child>& siblings = levels_.at(depth - 1);
      const auto at = std::lower_bound(
          siblings.begin(), siblings.end(), action,
          [](const Child& child, Action wanted) { return child.action < wanted; });
      if (at == siblings.end() || at->action != action) throw std::logic_error("no such action");
      state = at->state.get();
      key = at->key;
    }
    levels_.resize(depth + 1);
    std::vector<Child>& children = levels_[depth];
    children.clear();
    const int player = state->CurrentPlayer();
    header[PLACE_PLAYER] = player;
    if (player < 0) return ANSWERED_DONE;
    std::vector<Action> legal = state->LegalActions();
    if (legal.empty()) {
      Refuse("legal_actions() is empty where player ", player, " is to move.");
    }
    std::sort(legal.begin(), legal.end());
    header[PLACE_NUM_ACTIONS] = legal.size();
    if (static_cast<int64_t>(legal.size()) > header[PLACE_ACTION_CAPACITY]) {
      header[PLACE_REQUIRED_ACTIONS] = legal.size();
      return ANSWERED_FULL;
    }
    children.reserve(legal.size());
    for (Action action : legal) {
      Child child{action, state->Clone(), key};
      child.state->ApplyAction(action);
      Tell(header, &child, children.size());
      children.push_back(std::move(child));
    }
    return ANSWERED_DONE;
  }

  // Writes what the solver asks of a child into the buffers.
  void Tell(int64_t* header, Child* child, size_t place) const {
    const State& after = *child->state;
    Buffer<int32_t>(header, PLACE_ACTIONS)[place] = static_cast<int32_t>(child->action);
    Buffer<int32_t>(header, PLACE_MOVES)[place] = 1;
    const bool over = after.IsTerminal();
    Buffer<int8_t>(header, PLACE_ENDS)[place] = over;
    if (over) {
      const std::vector<double> returns = after.Returns();
      const size_t players = header[PLACE_NUM_PLAYERS];
      if (returns.size() != players) {
        Refuse("Expected returns for ", players, " players, got ", returns.size(), ".");
      }
      for (double value : returns) {
        if (!std::isfinite(value)) Refuse("Returns must be finite numbers, got ", value, ".");
      }
      std::copy(returns.begin(), returns.end(),
                Buffer<double>(header, PLACE_RETURNS) + place * players);
      return;
    }
    const int mover = after.CurrentPlayer();
    Buffer<int32_t>(header, PLACE_MOVERS)[place] = mover;
    if (header[PLACE_COUNT_MOVES] && mover >= 0) {
      const int32_t count = static_cast<int32_t>(after.LegalActions().size());
      Buffer<int32_t>(header, PLACE_MOVES)[place] = std::max(1, count);
    }
    if (by_text_) {
      child->key = TextKey(after, start_);
    } else {
      child->key.Add(static_cast<uint64_t>(child->action));
    }
    uint64_t* keys = Buffer<uint64_t>(header, PLACE_KEYS) + 2 * place;
    keys[0] = child->key.first;
    keys[1] = child->key.second;
  }

  template <typename T>
  static T* Buffer(int64_t* header, int place) {
    return reinterpret_cast<T*>(header[place]);
  }

  template <typename... Parts>
  [[noreturn]] static void Refuse(const Parts&... parts) {
    std::ostringstream message;
    (message << ... << parts);
    throw std::runtime_error(message.str());
  }

  const bool by_text_;
  std::unique_ptr<State> root_;
  Key root_key_;
  Key start_;
  std::vector<std::vector<Child>> levels_;  // The children of the position at each depth.
  std::string message_;
};

}  // namespace

extern "C" {

void* expander_create(int by_text) { return new Expander(by_text != 0); }
void expander_release(void* expander) { delete static_cast<Expander*>(expander); }

// Begins at a copy of a state; returns 0 if it cannot be copied.
int expander_set_root(void* expander, const void* state, uint64_t first, uint64_t second) {
  try {
    static_cast<Expander*>(expander)->SetRoot(*static_cast<const State*>(state), {first, second});
    return 1;
  } catch (...) {
    return 0;
  }
}

void expander_root_key(const void* expander, uint64_t* key) {
  const Key found = static_cast<const Expander*>(expander)->root_key();
  key[0] = found.first;
  key[1] = found.second;
}

// What ended the last expansion, after ANSWERED_FAILED.
const char* expander_message(const void* expander) {
  return static_cast<const Expander*>(expander)->message();
}

int32_t expander_expand(int64_t* header) {
  return reinterpret_cast<Expander*>(header[PLACE_PROVIDER])->Expand(header);
}

}  // extern "C"
