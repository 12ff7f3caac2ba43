// Bots of Python in OpenSpiel's registry of bots.
//
// native_library.py compiles this file against the headers of the installed open_spiel and links it
// with pyspiel, for BotRegisterer and SpielFatalError.
//
// A Python subclass of pyspiel.Bot is an open_spiel::Bot already: pyspiel's own class takes the
// interpreter lock, calls the Python methods, and lets their exceptions through to the caller as
// they are. So the bots of this file pass every call on to it, and keep it alive.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "open_spiel/spiel.h"
#include "open_spiel/spiel_bots.h"

namespace {

using open_spiel::Action;
using open_spiel::ActionsAndProbs;
using open_spiel::Bot;
using open_spiel::Game;
using open_spiel::GameParameter;
using open_spiel::GameParameters;
using open_spiel::Player;
using open_spiel::State;

// Functions of Python, which take the interpreter lock themselves.
//
// They write their answer, as what a function of Python returns after an exception is undefined. It
// is set to `kNoAnswer` before, and stays so after an exception.
extern "C" {
// 1 if the bot can play, else 0.
using CanPlay = void (*)(const char* name, const void* game, int32_t player, int64_t* answer);
// The address of a bot that lives until it is released. The game is that of the state.
// Each parameter is three texts: its name, its type and its value.
using Make = void (*)(const char* name, const void* state, int32_t player, int32_t num_parameters,
                      const char* const* parameters, int64_t* answer);
// The address of a copy of the state that Python knows, and that lives until it is released.
using Show = void (*)(const void* state, int64_t* answer);
// Takes what the two functions above gave.
using Release = void (*)(void* object);
}

constexpr int64_t kNoAnswer = -1;

struct Python {
  CanPlay can_play;
  Make make;
  Show show;
  Release release;
  // Its Restart raises the exception that one of the functions above has kept.
  Bot* raiser;

  [[noreturn]] void Raise() const {
    raiser->Restart();
    open_spiel::SpielFatalError("A bot of rave_openspiel could not be made: its error was lost.");
  }
};

// Set when the interpreter ends: from then on nothing of Python may be called.
std::atomic<bool> ended{false};

// A state for a bot of Python. pyspiel passes on only states that Python has seen before: one that
// C++ made is copied, since it need not be one; a state of a game in Python always is.
class ShownState {
 public:
  ShownState(const State& state, const Python& python) : python_(python), state_(&state) {
    if (std::strstr(typeid(state).name(), "PyState")) return;
    int64_t answer = kNoAnswer;
    python.show(&state, &answer);
    if (answer == kNoAnswer) python.Raise();
    copy_ = reinterpret_cast<void*>(answer);
    state_ = static_cast<const State*>(copy_);
  }
  ShownState(const ShownState&) = delete;
  ShownState& operator=(const ShownState&) = delete;
  ~ShownState() {
    if (copy_ != nullptr) python_.release(copy_);
  }

  operator const State&() const { return *state_; }

 private:
  const Python& python_;
  const State* state_;
  void* copy_ = nullptr;
};

class PassingBot : public Bot {
 public:
  using Owned = std::unique_ptr<Bot, std::function<void(Bot*)>>;

  PassingBot(Owned bot, const Python& python) : bot_(std::move(bot)), python_(python) {}

  Action Step(const State& state) override { return bot_->Step(Shown(state)); }
  std::pair<Action, std::string> StepVerbose(const State& state) override {
    return bot_->StepVerbose(Shown(state));
  }
  void InformAction(const State& state, Player player, Action action) override {
    bot_->InformAction(Shown(state), player, action);
  }
  void InformActions(const State& state, const std::vector<Action>& actions) override {
    bot_->InformActions(Shown(state), actions);
  }
  void Restart() override { bot_->Restart(); }
  void RestartAt(const State& state) override { bot_->RestartAt(Shown(state)); }
  bool ProvidesForceAction() override { return bot_->ProvidesForceAction(); }
  void ForceAction(const State& state, Action action) override {
    bot_->ForceAction(Shown(state), action);
  }
  bool ProvidesPolicy() override { return bot_->ProvidesPolicy(); }
  ActionsAndProbs GetPolicy(const State& state) override { return bot_->GetPolicy(Shown(state)); }
  std::pair<ActionsAndProbs, Action> StepWithPolicy(const State& state) override {
    return bot_->StepWithPolicy(Shown(state));
  }
  bool IsClonable() const override { return bot_->IsClonable(); }
  std::unique_ptr<Bot> Clone() override {
    Owned clone(bot_->Clone().release(), [](Bot* bot) {
      if (!ended) delete bot;
    });
    return std::make_unique<PassingBot>(std::move(clone), python_);
  }

 private:
  ShownState Shown(const State& state) const { return ShownState(state, python_); }

  Owned bot_;
  const Python python_;
};

// The type's name in Python, and the value as Python reads it.
std::pair<std::string, std::string> Described(const GameParameter& parameter) {
  switch (parameter.type()) {
    case GameParameter::Type::kInt:
      return {"int", std::to_string(parameter.int_value())};
    case GameParameter::Type::kDouble: {
      char text[32];
      std::snprintf(text, sizeof(text), "%.17g", parameter.double_value());
      return {"float", text};
    }
    case GameParameter::Type::kBool:
      return {"bool", parameter.bool_value() ? "True" : "False"};
    case GameParameter::Type::kString:
      return {"str", parameter.string_value()};
    case GameParameter::Type::kGame:
      // A value in parentheses, such as the spec of a part: OpenSpiel reads it as a game's.
      return {"str", open_spiel::GameParametersToString(parameter.game_value())};
    case GameParameter::Type::kUnset:
      break;
  }
  return {"unset", ""};
}

class PythonFactory : public open_spiel::BotFactory {
 public:
  PythonFactory(std::string name, const Python& python) : name_(std::move(name)), python_(python) {}

  bool CanPlayGame(const Game& game, Player player) const override {
    if (ended) return false;
    int64_t answer = kNoAnswer;
    python_.can_play(name_.c_str(), &game, player, &answer);
    if (answer == kNoAnswer) python_.Raise();
    return answer > 0;
  }

  std::unique_ptr<Bot> Create(std::shared_ptr<const Game> game, Player player,
                              const GameParameters& parameters) const override {
    if (ended) open_spiel::SpielFatalError("The Python interpreter has ended.");
    if (game == nullptr) open_spiel::SpielFatalError("A bot needs a game, got none.");
    std::vector<std::string> texts;
    for (const auto& [name, parameter] : parameters) {
      auto [type, value] = Described(parameter);
      texts.insert(texts.end(), {name, std::move(type), std::move(value)});
    }
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    // A state gives Python its game as a shared one; the address of a game would not.
    const std::unique_ptr<State> state = game->NewInitialState();
    int64_t answer = kNoAnswer;
    python_.make(name_.c_str(), state.get(), player, static_cast<int32_t>(parameters.size()),
                 pointers.data(), &answer);
    if (answer == kNoAnswer) python_.Raise();
    PassingBot::Owned owned(reinterpret_cast<Bot*>(answer), [release = python_.release](Bot* released) {
      if (!ended) release(released);
    });
    return std::make_unique<PassingBot>(std::move(owned), python_);
  }

 private:
  const std::string name_;
  const Python python_;
};

}  // namespace

extern "C" {

// Registers a name, which must be free; the functions must live until the process ends.
void registry_add(const char* name, CanPlay can_play, Make make, Show show, Release release,
                  void* raiser) {
  const Python python{can_play, make, show, release, static_cast<Bot*>(raiser)};
  open_spiel::BotRegisterer::RegisterBot(name, std::make_unique<PythonFactory>(name, python));
}

// The interpreter ends.
void registry_end() { ended = true; }

}  // extern "C"
