// Simulations of OpenSpiel's C++ states: the simulate() contract of
// rave_agents/simulate/simulator.py on open_spiel::State.
//
// native_library.py compiles this file against the headers of the installed open_spiel and defines
// on the command line, from the Python enumerations: HEADER_*, the header's places; BUFFER_*, the
// places of the buffers' addresses; STATUS_*; STEP_*; CHECK_*; PLAYER_*; ERROR_*; MOVE_*; NO_ACTION;
// LONGEST_GAME, a multiple of kMovesPerLook.
//
// Every action and every outcome is drawn as python_simulator.py draws it, so that both providers
// grow the same trees. Only virtual functions of State are called: no symbol of pyspiel is needed.

#include <chrono>
#include <functional>

#include "states.h"

namespace {

using Clock = std::chrono::steady_clock;

// Moves of a playout between two looks at the clock, a power of two.
constexpr int kMovesPerLook = 16;

// A state in the tree is cached from its fourth visit on, so that few moves lead to a leaf. At most
// 4,096 are cached, of the first 65,536 positions. The same moves lead to the same states: games that
// draw outcomes in secret are refused before.
constexpr int kPassesBeforeKept = 4;
constexpr int kMostKept = 4096;
constexpr int kMostPositions = 1 << 16;

constexpr int kMovesPerSample = 4;  // Moves between two positions of a playout that are shown.

constexpr size_t kFewWorlds = 4;       // FEW and COUNTED of rave_agents/simulate/world_record.py.
constexpr int64_t kWorldsCounted = 1000;

using GiveWorld = int32_t (*)(int64_t);
constexpr int64_t kWorldLate = 1;  // No address: the deadline has passed before there was a world.

constexpr int kMostShrinking = 1 << 16;  // Actions that fit into the list that shrinks.

class DeadlinePassed {};  // Raised inside a simulation to drop it.

class FrameTooSmall {};  // Likewise, where a buffer is too small; the header says which.

// A provider bound to one root position, which it owns. One thread at a time may use it.
class Provider {
 public:
  Provider(const State& root, int num_distinct_actions, bool shrinking)
      : root_(root.Clone()),
        num_distinct_actions_(num_distinct_actions),
        shows_observations_(root.GetGame()->GetType().provides_observation_tensor),
        shrinking_(shrinking && num_distinct_actions <= kMostShrinking) {}

  int32_t Simulate(int64_t* header) noexcept;

  void SetDeadline(double seconds) {
    timed_ = std::isfinite(seconds);
    if (timed_) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
    }
  }

  // Drops the states that are kept by the numbers of their positions: these mean others now.
  void ForgetPositions() {
    passed_.clear();
    kept_ = 0;
  }

  // From now on each simulation has a world of its own, which the player cannot tell from the root.
  // It comes from the function, or from the state's own method if that is null. The function writes
  // the state's address to `given`, or kWorldLate: what Python returns may be anything.
  void Observe(int player, bool by_information_state, GiveWorld give_world, int64_t* given) {
    observer_ = player;
    by_information_state_ = by_information_state;
    give_world_ = give_world;
    given_ = given;
  }

  // Writes what the observing player sees at the root, as in HEADER_VIEW. False after a failure.
  bool RootView(int64_t* seen) noexcept {
    try {
      *seen = View(*root_, observer_);
      return true;
    } catch (...) {
      failure_.NoteException();
    }
    return false;
  }

  // After so many seconds, worlds of the state's own method that are there serve once more.
  void SetWorldsDeadline(double seconds) {
    worlds_end_ = std::isfinite(seconds)
                      ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds))
                      : Clock::time_point::max();
  }

  // Number of worlds drawn by its own method, the seconds that took, and the keys of the first ones.
  int64_t Worlds(int64_t* keys, int64_t most, double* seconds) const {
    std::copy_n(world_keys_.begin(), std::min<size_t>(most, world_keys_.size()), keys);
    *seconds = world_seconds_;
    return worlds_drawn_;
  }

  int error() const { return failure_.error; }
  const char* message() const { return failure_.message.c_str(); }

 private:
  int32_t RunSimulation();
  int32_t RunStep(int64_t step);
  std::unique_ptr<State> World();
  std::unique_ptr<State> OwnWorld();
  int64_t View(const State& state, int player) const;
  std::unique_ptr<State> Leaf();
  void ApplyJoint(State& state, const int32_t* path, int64_t count);
  const State* Kept(int32_t position) const;
  void Pass(int32_t position, const State& state);
  int32_t Finish(const State& state);
  bool ListActions(const State& state, int player);
  void ListMovers(const State& state);
  void CheckChildren(const State& state, int64_t count);
  int32_t TryReply();
  int32_t Play(State& state);
  int32_t Show(const State& state);
  void WriteObservation(const State& state, int mover, float* row) const;
  void ShowChild(State& child, int64_t index);
  void ShowSample(const State& state, int player, int moves);
  void Playout(State& state);
  void PlayJoint(State& state, RandomWords& words);
  void ShrinkingPlayout(State& state);

  template <typename T>
  T* Buffer(int place) const {
    return reinterpret_cast<T*>(header_[place]);
  }

  void LookAtClock() const {
    if (timed_ && Clock::now() > deadline_) throw DeadlinePassed();
  }

  // Looks at the clock now and then, by the count of moves, and whether there are too many.
  void CountMove(int* moves) const {
    if ((++*moves & (kMovesPerLook - 1)) != 0) return;
    LookAtClock();
    if (*moves > LONGEST_GAME) throw EndlessGame();
  }

  // Counts a move; records it while there is room.
  void Record(int player, Action action) {
    if (end_ < move_capacity_) {
      move_players_[end_] = player;
      move_actions_[end_] = static_cast<int32_t>(action);
    }
    ++end_;
  }

  // Draws the place of one of the actions, as the search's policy has it: that chooses itself, or
  // has weights, or else all are equal. `state` is null where players move at the same time, after
  // `end` moves.
  template <typename T>
  size_t Drawn(const State* state, const T* actions, size_t count, int player, int64_t end,
               RandomWords& words) const {
    if (header_[HEADER_CHOOSE] != 0) return Chosen(state, actions, count, player, end);
    const int64_t num_weights = header_[HEADER_NUM_WEIGHTS];
    if (num_weights == 0 || header_[HEADER_EVEN_WEIGHTS]) return words.Below(static_cast<int64_t>(count));
    const double* weights = Buffer<double>(BUFFER_ACTION_WEIGHTS) + player * num_weights;
    double total = 0.0;
    for (size_t i = 0; i < count; ++i) {
      CheckAction(actions[i]);
      total += weights[actions[i]];
    }
    const double drawn = words.Unit() * total;
    size_t place = 0;
    for (double sum = weights[actions[0]]; sum <= drawn && place + 1 < count;) {
      sum += weights[actions[++place]];
    }
    return place;
  }

  // Lets the policy choose the place of one of the actions.
  template <typename T>
  size_t Chosen(const State* state, const T* actions, size_t count, int player,
                int64_t end) const {
    const size_t room = header_[HEADER_ACTION_CAPACITY];
    if (count > room) header_[HEADER_REQUIRED_ACTIONS] = 2 * count;
    if (end > move_capacity_) header_[HEADER_REQUIRED_MOVES] = 2 * end;
    if (count > room || end > move_capacity_) throw FrameTooSmall();
    int32_t* choices = Buffer<int32_t>(BUFFER_CHOICES);
    int32_t* known = choices + room;
    const int64_t looks = state == nullptr ? 0 : header_[HEADER_LOOKAHEAD];
    for (size_t i = 0; i < count; ++i) {
      CheckAction(actions[i]);
      choices[i] = static_cast<int32_t>(actions[i]);
      known[i] = looks > 0 && Wins(*state, actions[i], player) ? MOVE_WINS : 0;
    }
    header_[HEADER_CHOICE_PLAYER] = player;
    header_[HEADER_NUM_CHOICES] = count;
    header_[HEADER_PLAYOUT_END] = end;
    while (true) {
      header_[HEADER_CHOSEN] = 0;
      reinterpret_cast<int32_t (*)(int64_t)>(header_[HEADER_CHOOSE])(header_[HEADER_CHOOSE_RECORD]);
      const size_t place = header_[HEADER_CHOSEN] - 1;
      if (place >= count) throw std::runtime_error("the playout policy made no choice");
      if (looks < 2 || known[place] != 0 || !Loses(*state, actions[place], player)) return place;
      known[place] = MOVE_LOSES;
    }
  }

  // Whether an action ends the game with more for the player than for any other.
  bool Wins(const State& state, Action action, int player) const {
    LookAtClock();
    const std::unique_ptr<State> child = state.Clone();
    child->ApplyAction(action);
    if (num_players_ == 1 || !child->IsTerminal()) return false;
    const std::vector<double> returns = child->Returns();
    for (int other = 0; other < num_players_; ++other) {
      if (other != player && !(returns.at(player) > returns.at(other))) return false;
    }
    return true;
  }

  // Whether another player can win so at once after an action.
  bool Loses(const State& state, Action action, int player) const {
    const std::unique_ptr<State> child = state.Clone();
    child->ApplyAction(action);
    const int other = child->CurrentPlayer();
    if (other < 0 || other == player) return false;
    const std::vector<Action> replies = child->LegalActions();
    return std::any_of(replies.begin(), replies.end(),
                       [&](Action reply) { return Wins(*child, reply, other); });
  }

  void CheckAction(Action action) const {
    if (action >= 0 && action < num_distinct_actions_) return;
    Refuse("legal_actions() has ", action, ", but num_distinct_actions() allows 0 to ",
           num_distinct_actions_ - 1, ".");
  }

  std::unique_ptr<State> root_;
  const Action num_distinct_actions_;
  const bool shows_observations_;  // Else information states stand in for them.
  const bool shrinking_;  // An action disappears when taken, and nothing else becomes (il)legal.
  bool timed_ = false;
  Clock::time_point deadline_;
  Failure failure_;

  // Positions that simulations come through, by their numbers.
  struct Passed {
    std::unique_ptr<State> state;  // Null until it is kept.
    int times = 0;
  };
  std::vector<Passed> passed_;
  int kept_ = 0;
  size_t most_moves_ = 0;  // Moves of the longest game so far.

  // Of the simulation that runs.
  int64_t* header_ = nullptr;
  int num_players_ = 0;
  int64_t end_ = 0;
  bool shows_samples_ = false;
  int64_t move_capacity_ = 0;
  int32_t* move_players_ = nullptr;
  int32_t* move_actions_ = nullptr;
  bool leaf_is_listed_ = false;
  std::vector<Action> leaf_actions_;
  Movers movers_;
  std::vector<Action> joint_;
  std::vector<uint16_t> remaining_;

  // For searches in which each simulation has a world of its own.
  int observer_ = 0;
  bool by_information_state_ = false;
  GiveWorld give_world_ = nullptr;
  int64_t* given_ = nullptr;
  std::unique_ptr<State> world_;
  Clock::time_point worlds_end_ = Clock::time_point::max();
  std::vector<std::unique_ptr<State>> kept_worlds_;  // The first ones.
  std::vector<int64_t> world_keys_;                  // Tell the first worlds apart.
  int64_t worlds_drawn_ = 0;
  int64_t worlds_reused_ = 0;
  double world_seconds_ = 0.0;
};

int32_t Provider::Simulate(int64_t* header) noexcept {
  header_ = header;
  try {
    return RunSimulation();
  } catch (const DeadlinePassed&) {
    return STATUS_STOPPED;
  } catch (const FrameTooSmall&) {
    return STATUS_FRAME_FULL;
  } catch (...) {
    failure_.NoteException();
  }
  return STATUS_FAILED;
}

int32_t Provider::RunSimulation() {
  LookAtClock();
  num_players_ = static_cast<int>(header_[HEADER_NUM_PLAYERS]);
  const int64_t num_weights = header_[HEADER_NUM_WEIGHTS];
  if (num_weights != 0 && num_weights != num_distinct_actions_) {
    Refuse("The frame weighs ", num_weights, " actions, but there are ", num_distinct_actions_, ".");
  }
  if (header_[HEADER_STEP] == STEP_TRY_REPLY) return TryReply();
  if (header_[HEADER_STEP] != STEP_WHOLE) return RunStep(header_[HEADER_STEP]);
  const std::unique_ptr<State> state = Leaf();
  const int player = state->CurrentPlayer();
  header_[HEADER_PLAYER] = player;
  if (player == PLAYER_TERMINAL) return Finish(*state);
  leaf_is_listed_ = false;
  if (header_[HEADER_EXPAND] && !ListActions(*state, player)) return STATUS_FRAME_FULL;
  return Play(*state);
}

// One step of a simulation in a world of its own.
int32_t Provider::RunStep(int64_t step) {
  if (step == STEP_BEGIN) {
    world_ = World();
  } else if (step == STEP_ADVANCE) {
    world_->ApplyAction(Buffer<int32_t>(BUFFER_PATH)[header_[HEADER_PATH_LENGTH] - 1]);
  } else if (world_->CurrentPlayer() == PLAYER_TERMINAL) {
    return Finish(*world_);
  } else {
    return Play(*world_);
  }
  RandomWords words(Buffer<int64_t>(BUFFER_PLAYOUT_STREAM));
  int player;
  int moves = 0;
  while ((player = world_->CurrentPlayer()) == PLAYER_CHANCE) {
    CountMove(&moves);
    world_->ApplyAction(SampledOutcome(CheckedOutcomes(*world_), words.Unit()));
  }
  header_[HEADER_PLAYER] = player;
  header_[HEADER_NUM_ACTIONS] = 0;
  if (player == PLAYER_TERMINAL) return STATUS_DONE;
  CheckPlayer(player, num_players_);
  header_[HEADER_VIEW] = View(*world_, player);
  return ListActions(*world_, player) ? STATUS_DONE : STATUS_FRAME_FULL;
}

std::unique_ptr<State> Provider::World() {
  if (give_world_ != nullptr) {
    *given_ = 0;
    give_world_(0);
    if (*given_ == 0) throw std::runtime_error("there is no world");  // Python knows why.
    if (*given_ == kWorldLate) throw DeadlinePassed();
    return reinterpret_cast<const State*>(*given_)->Clone();
  }
  const Clock::time_point started = Clock::now();
  if (!kept_worlds_.empty() && started >= worlds_end_) {
    return kept_worlds_[worlds_reused_++ % kept_worlds_.size()]->Clone();
  }
  std::unique_ptr<State> world = OwnWorld();
  world_seconds_ += std::chrono::duration<double>(Clock::now() - started).count();
  if (worlds_drawn_++ < kWorldsCounted) {
    world_keys_.push_back(static_cast<int64_t>(std::hash<std::string>()(world->ToString())));
  }
  return world;
}

std::unique_ptr<State> Provider::OwnWorld() {
  RandomWords words(Buffer<int64_t>(BUFFER_PLAYOUT_STREAM));
  std::unique_ptr<State> world =
      root_->ResampleFromInfostate(observer_, [&words] { return words.Unit(); });
  if (worlds_end_ != Clock::time_point::max() && kept_worlds_.size() < kFewWorlds) {
    kept_worlds_.push_back(world->Clone());
  }
  return world;
}

// A number for what the player to move sees.
int64_t Provider::View(const State& state, int player) const {
  const std::string seen = by_information_state_ ? state.InformationStateString(player)
                                                 : state.ObservationString(player);
  return static_cast<int64_t>(std::hash<std::string>()(seen));
}

// The position at the end of the path: from the deepest position on it that is kept, or the root.
std::unique_ptr<State> Provider::Leaf() {
  const int32_t* path = Buffer<int32_t>(BUFFER_PATH);
  const int32_t* positions = Buffer<int32_t>(BUFFER_PATH_NODES);
  const int64_t length = header_[HEADER_PATH_LENGTH];
  // Actions that are taken at the same time have the same position.
  int64_t step = std::max<int64_t>(0, length - 1);
  while (step > 0 && (positions[step - 1] == positions[step] || Kept(positions[step]) == nullptr)) {
    --step;
  }
  std::unique_ptr<State> state = (step > 0 ? Kept(positions[step]) : root_.get())->Clone();
  Opened::ReserveHistory(*state, most_moves_);
  while (step < length) {
    if (step > 0) Pass(positions[step], *state);
    if (state->CurrentPlayer() != PLAYER_SIMULTANEOUS) {
      state->ApplyAction(path[step++]);
      continue;
    }
    int64_t end = step + 1;
    while (end < length && positions[end] == positions[step]) ++end;
    ApplyJoint(*state, path + step, end - step);
    step = end;
  }
  return state;
}

// Applies the actions of all who move at the same time, so many.
void Provider::ApplyJoint(State& state, const int32_t* path, int64_t count) {
  joint_.assign(num_players_, NO_ACTION);
  if (count == num_players_) {
    std::copy(path, path + count, joint_.begin());
  } else {
    movers_.Find(state);
    for (int64_t i = 0; i < count; ++i) joint_[movers_.players[i]] = path[i];
  }
  Opened::ApplyActions(state, joint_);
}

void Provider::ListMovers(const State& state) {
  movers_.Find(state);
  header_[HEADER_NUM_MOVERS] = movers_.players.size();
  leaf_actions_.clear();
  for (size_t i = 0; i < movers_.players.size(); ++i) {
    leaf_actions_.insert(leaf_actions_.end(), movers_.actions[i].begin(), movers_.actions[i].end());
    Buffer<int32_t>(BUFFER_MOVERS)[i] = movers_.players[i];
    Buffer<int32_t>(BUFFER_MOVER_ENDS)[i] = static_cast<int32_t>(leaf_actions_.size());
  }
}

const State* Provider::Kept(int32_t position) const {
  return static_cast<size_t>(position) < passed_.size() ? passed_[position].state.get() : nullptr;
}

// Counts that a simulation comes through a position, and keeps its state if it often does.
void Provider::Pass(int32_t position, const State& state) {
  if (position >= kMostPositions) return;
  if (static_cast<size_t>(position) >= passed_.size()) passed_.resize(2 * position + 1);
  Passed& passed = passed_[position];
  if (++passed.times == kPassesBeforeKept && kept_ < kMostKept) {
    passed.state = state.Clone();
    ++kept_;
  }
}

int32_t Provider::Finish(const State& state) {
  header_[HEADER_NUM_ACTIONS] = 0;
  header_[HEADER_NUM_PLAYOUTS] = 1;
  Buffer<int32_t>(BUFFER_PLAYOUT_ENDS)[0] = 0;
  GiveReturns(state, num_players_, Buffer<double>(BUFFER_RETURNS));
  return STATUS_DONE;
}

bool Provider::ListActions(const State& state, int player) {
  int32_t* actions = Buffer<int32_t>(BUFFER_ACTIONS);
  ActionsAndProbs outcomes;
  if (player == PLAYER_CHANCE) {
    outcomes = CheckedOutcomes(state);
  } else {
    if (player == PLAYER_SIMULTANEOUS) {
      ListMovers(state);
    } else {
      CheckPlayer(player, num_players_);
      leaf_actions_ = state.LegalActions();
      CheckSome(leaf_actions_.size(), player);
    }
    for (Action action : leaf_actions_) CheckAction(action);
    leaf_is_listed_ = true;
  }
  const int64_t count = leaf_is_listed_ ? leaf_actions_.size() : outcomes.size();
  header_[HEADER_NUM_ACTIONS] = count;
  if (count > header_[HEADER_ACTION_CAPACITY]) {
    header_[HEADER_REQUIRED_ACTIONS] = 2 * count;
    return false;
  }
  header_[HEADER_UNIFORM] = leaf_is_listed_;
  double* probabilities = Buffer<double>(BUFFER_PROBABILITIES);
  for (int64_t i = 0; i < count; ++i) {
    if (!leaf_is_listed_) probabilities[i] = outcomes[i].second;
    actions[i] = static_cast<int32_t>(leaf_is_listed_ ? leaf_actions_[i] : outcomes[i].first);
  }
  if (header_[HEADER_CHECK_CHILDREN]) CheckChildren(state, count);
  return true;
}

// Tells which actions end the game, and with what returns.
void Provider::CheckChildren(const State& state, int64_t count) {
  const int32_t* actions = Buffer<int32_t>(BUFFER_ACTIONS);
  int8_t* ends = Buffer<int8_t>(BUFFER_CHILD_ENDS);
  double* returns = Buffer<double>(BUFFER_CHILD_RETURNS);
  int moves = 0;
  for (int64_t i = 0; i < count; ++i) {
    CountMove(&moves);
    std::unique_ptr<State> child = state.Clone();
    child->ApplyAction(actions[i]);
    ends[i] = child->IsTerminal();
    if (ends[i]) {
      GiveReturns(*child, num_players_, returns + i * num_players_);
    } else if (header_[HEADER_CHECK_CHILDREN] == CHECK_OBSERVE) {
      ShowChild(*child, i);
    }
  }
}

// Writes what the player to move observes; where chance is to move, an outcome is drawn first.
void Provider::ShowChild(State& child, int64_t index) {
  RandomWords words(Buffer<int64_t>(BUFFER_PLAYOUT_STREAM));
  int moves = 0;
  while (child.CurrentPlayer() == PLAYER_CHANCE) {
    CountMove(&moves);
    child.ApplyAction(SampledOutcome(CheckedOutcomes(child), words.Unit()));
  }
  const int mover = std::max(0, child.CurrentPlayer());
  float* rows = Buffer<float>(BUFFER_CHILD_OBSERVATIONS);
  Buffer<int32_t>(BUFFER_CHILD_PLAYERS)[index] = mover;
  WriteObservation(child, mover, rows + index * header_[HEADER_OBSERVATION]);
}

// Writes what the player to move observes, of some positions of the first playout.
void Provider::ShowSample(const State& state, int player, int moves) {
  int64_t& count = header_[HEADER_NUM_SAMPLES];
  if (!shows_samples_ || count >= header_[HEADER_SAMPLES] || moves % kMovesPerSample != 0) return;
  float* rows = Buffer<float>(BUFFER_SAMPLES);
  Buffer<int32_t>(BUFFER_SAMPLE_PLAYERS)[count] = player;
  WriteObservation(state, player, rows + count * header_[HEADER_OBSERVATION]);
  ++count;
}

void Provider::WriteObservation(const State& state, int mover, float* row) const {
  const auto seen = absl::MakeSpan(row, header_[HEADER_OBSERVATION]);
  if (shows_observations_) {
    state.ObservationTensor(mover, seen);
  } else {
    state.InformationStateTensor(mover, seen);
  }
}

// Tells which of the frame's actions the reply may answer, and so ends the game, and how.
int32_t Provider::TryReply() {
  const std::unique_ptr<State> state = Leaf();
  const Action reply = header_[HEADER_REPLY];
  const int32_t* actions = Buffer<int32_t>(BUFFER_ACTIONS);
  int8_t* ends = Buffer<int8_t>(BUFFER_CHILD_ENDS);
  double* returns = Buffer<double>(BUFFER_CHILD_RETURNS);
  int moves = 0;
  for (int64_t i = 0; i < header_[HEADER_NUM_ACTIONS]; ++i) {
    CountMove(&moves);
    std::unique_ptr<State> child = state->Clone();
    child->ApplyAction(actions[i]);
    ends[i] = false;
    if (child->CurrentPlayer() != header_[HEADER_PLAYER]) continue;
    const std::vector<Action> replies = child->LegalActions();
    if (std::find(replies.begin(), replies.end(), reply) == replies.end()) continue;
    child->ApplyAction(reply);
    ends[i] = child->IsTerminal();
    if (ends[i]) GiveReturns(*child, num_players_, returns + i * num_players_);
  }
  return STATUS_DONE;
}

// Writes what those who move observe, for somebody else to judge the position.
int32_t Provider::Show(const State& state) {
  const int player = state.CurrentPlayer();
  if (player == PLAYER_CHANCE) return STATUS_DONE;
  const bool simultaneous = player == PLAYER_SIMULTANEOUS;
  if (simultaneous && !leaf_is_listed_) movers_.Find(state);
  const int64_t size = header_[HEADER_OBSERVATION];
  float* row = Buffer<float>(BUFFER_OBSERVATIONS);
  const int64_t rows = simultaneous ? static_cast<int64_t>(movers_.players.size()) : 1;
  for (int64_t i = 0; i < rows; ++i, row += size) {
    WriteObservation(state, simultaneous ? movers_.players[i] : player, row);
  }
  const auto& kind = state.GetGame()->GetType();
  double* returns = Buffer<double>(BUFFER_RETURNS);
  if (kind.reward_model == open_spiel::GameType::RewardModel::kRewards) {
    GiveReturns(state, num_players_, returns);
  } else {
    std::fill_n(returns, num_players_, 0.0);
  }
  Buffer<double>(BUFFER_DISCOUNT)[0] = 1.0;
  return STATUS_DONE;
}

// Plays from the state, the last time in itself.
int32_t Provider::Play(State& state) {
  const int64_t playouts = header_[HEADER_PLAYOUTS];
  header_[HEADER_NUM_PLAYOUTS] = playouts;
  if (playouts == 0) return Show(state);
  move_capacity_ = header_[HEADER_MOVE_CAPACITY];
  move_players_ = Buffer<int32_t>(BUFFER_MOVE_PLAYERS);
  move_actions_ = Buffer<int32_t>(BUFFER_MOVE_ACTIONS);
  end_ = 0;
  for (int64_t playout = 0; playout < playouts; ++playout) {
    std::unique_ptr<State> own;
    if (playout + 1 < playouts) own = state.Clone();
    State& played = own ? *own : state;
    shows_samples_ = playout == 0;
    header_[HEADER_PLAYOUT_START] = end_;
    if (shrinking_) {
      ShrinkingPlayout(played);
    } else {
      Playout(played);
    }
    if (end_ > move_capacity_) {
      header_[HEADER_REQUIRED_MOVES] = 2 * end_ * playouts / (playout + 1);
      return STATUS_FRAME_FULL;
    }
    Buffer<int32_t>(BUFFER_PLAYOUT_ENDS)[playout] = static_cast<int32_t>(end_);
    most_moves_ = std::max<size_t>(most_moves_, played.MoveNumber());
    GiveReturns(played, num_players_, Buffer<double>(BUFFER_RETURNS) + playout * num_players_);
  }
  return STATUS_DONE;
}

// Plays at random to the end.
void Provider::Playout(State& state) {
  RandomWords words(Buffer<int64_t>(BUFFER_PLAYOUT_STREAM));
  bool listed = leaf_is_listed_;
  int moves = 0;
  std::vector<Action> legal;
  for (int player; (player = state.CurrentPlayer()) != PLAYER_TERMINAL;) {
    CountMove(&moves);
    if (player == PLAYER_CHANCE) {
      const ActionsAndProbs outcomes = CheckedOutcomes(state);
      state.ApplyAction(SampledOutcome(outcomes, words.Unit()));
      continue;
    }
    if (player == PLAYER_SIMULTANEOUS) {
      listed = false;
      PlayJoint(state, words);
      continue;
    }
    CheckPlayer(player, num_players_);
    ShowSample(state, player, static_cast<int>(end_));
    if (!listed) legal = state.LegalActions();
    const std::vector<Action>& actions = listed ? leaf_actions_ : legal;
    listed = false;
    CheckSome(actions.size(), player);
    const Action action = actions[Drawn(&state, actions.data(), actions.size(), player, end_, words)];
    CheckAction(action);
    Record(player, action);
    state.ApplyAction(action);
  }
}

// Plays a random action of each who moves at the same time.
void Provider::PlayJoint(State& state, RandomWords& words) {
  movers_.Find(state);
  joint_.assign(num_players_, NO_ACTION);
  const int64_t before = end_;
  for (size_t i = 0; i < movers_.players.size(); ++i) {
    const std::vector<Action>& legal = movers_.actions[i];
    const Action action =
        legal[Drawn<Action>(nullptr, legal.data(), legal.size(), movers_.players[i], before, words)];
    CheckAction(action);
    Record(movers_.players[i], action);
    joint_[movers_.players[i]] = action;
  }
  Opened::ApplyActions(state, joint_);
}

// Likewise in a game in which an action disappears when taken and nothing else becomes legal or
// illegal: the list stays in order, so that the same draws mean the same actions.
void Provider::ShrinkingPlayout(State& state) {
  RandomWords words(Buffer<int64_t>(BUFFER_PLAYOUT_STREAM));
  if (!leaf_is_listed_) {
    leaf_actions_ = state.LegalActions();
    for (Action action : leaf_actions_) CheckAction(action);
    leaf_is_listed_ = true;  // All playouts of this simulation start here.
  }
  remaining_.assign(leaf_actions_.begin(), leaf_actions_.end());
  size_t count = remaining_.size();
  int moves = 0;
  for (int player; (player = state.CurrentPlayer()) != PLAYER_TERMINAL; --count) {
    CountMove(&moves);
    CheckPlayer(player, num_players_);
    CheckSome(count, player);
    ShowSample(state, player, static_cast<int>(end_));
    uint16_t* place =
        remaining_.data() + Drawn(&state, remaining_.data(), count, player, end_, words);
    const Action action = *place;
    std::memmove(place, place + 1, (remaining_.data() + count - place - 1) * sizeof(*place));
    Record(player, action);
    state.ApplyAction(action);
  }
}

void* (*capsule_reader)(void*, const char*) = nullptr;

}  // namespace

extern "C" {

// A provider for a copy of the state; null if the state cannot be copied.
void* bridge_create(const void* state, int num_distinct_actions, int shrinking) {
  try {
    return new Provider(*static_cast<const State*>(state), num_distinct_actions, shrinking != 0);
  } catch (...) {
    return nullptr;
  }
}

// Python's PyCapsule_GetPointer, and the destructor of a capsule that owns a provider.
void bridge_set_capsule_reader(void* (*reader)(void*, const char*)) { capsule_reader = reader; }
void bridge_release_owned(void* capsule) {
  delete static_cast<Provider*>(capsule_reader(capsule, nullptr));
}

// Stop simulations so many seconds from now; infinity for never.
void bridge_set_deadline(void* provider, double seconds) {
  static_cast<Provider*>(provider)->SetDeadline(seconds);
}

// The numbers of positions mean others from now on.
void bridge_forget_positions(void* provider) { static_cast<Provider*>(provider)->ForgetPositions(); }

// Every simulation takes place in a world of its own: see Provider::Observe.
void bridge_observe(void* provider, int player, int by_information_state,
                    int32_t (*give_world)(int64_t), int64_t* given) {
  static_cast<Provider*>(provider)->Observe(player, by_information_state != 0, give_world, given);
}

int bridge_root_view(void* provider, int64_t* seen) {
  return static_cast<Provider*>(provider)->RootView(seen);
}

// See Provider::SetWorldsDeadline and Provider::Worlds.
void bridge_set_worlds_deadline(void* provider, double seconds) {
  static_cast<Provider*>(provider)->SetWorldsDeadline(seconds);
}

int64_t bridge_worlds(const void* provider, int64_t* keys, int64_t most, double* seconds) {
  return static_cast<const Provider*>(provider)->Worlds(keys, most, seconds);
}

// After STATUS_FAILED, until the next simulation: which ERROR_*, and what it says.
int bridge_error(void* provider) { return static_cast<Provider*>(provider)->error(); }
const char* bridge_message(void* provider) { return static_cast<Provider*>(provider)->message(); }

// Plays so many times from copies of the state to the end, uniformly at random, and keeps nothing:
// what a search with playouts can be compared with. Tells how often, less if the game throws or
// does not end.
int64_t bridge_play_out(const void* state, int64_t playouts, int64_t* stream) {
  RandomWords words(stream);
  int64_t done = 0;
  try {
    for (; done < playouts; ++done) {
      const std::unique_ptr<State> played = static_cast<const State*>(state)->Clone();
      int moves = 0;
      for (int player; (player = played->CurrentPlayer()) != PLAYER_TERMINAL;) {
        if (++moves > LONGEST_GAME) return done;
        if (player == PLAYER_CHANCE) {
          played->ApplyAction(SampledOutcome(played->ChanceOutcomes(), words.Unit()));
        } else if (player == PLAYER_SIMULTANEOUS) {
          std::vector<Action> joint(played->NumPlayers(), NO_ACTION);
          for (int mover = 0; mover < played->NumPlayers(); ++mover) {
            const std::vector<Action> legal = played->LegalActions(mover);
            if (!legal.empty()) joint[mover] = legal[words.Below(legal.size())];
          }
          Opened::ApplyActions(*played, joint);
        } else {
          const std::vector<Action> legal = played->LegalActions();
          played->ApplyAction(legal[words.Below(static_cast<int64_t>(legal.size()))]);
        }
      }
      played->Returns();
    }
  } catch (...) {
  }
  return done;
}

int32_t bridge_simulate(int64_t* header) {
  return reinterpret_cast<Provider*>(header[HEADER_PROVIDER])->Simulate(header);
}

}  // extern "C"
