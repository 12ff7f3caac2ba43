// What the C++ files share. Each .cpp is a library of its own, so everything is
// local to the file that includes this one.
//
// native_library.py defines on the command line, from the Python enumerations: PLAYER_*; ERROR_*;
// CHANCE_ROUNDING.

#ifndef RAVE_OPENSPIEL_STATES_H_
#define RAVE_OPENSPIEL_STATES_H_

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
#include <utility>
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

class EndlessGame {};  // Raised after LONGEST_GAME moves.

template <typename... Parts>
[[noreturn]] void Refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw BrokenGame(message.str());
}

// True for pyspiel's handler of SpielFatalError, which throws a type that no header declares.
[[maybe_unused]] inline bool IsSpielError(const std::exception& error) {
  return std::strstr(typeid(error).name(), "SpielException") != nullptr;
}

// The last failure of a library: which ERROR_*, and its message.
struct Failure {
  int error = 0;
  std::string message;

  // Notes the exception that is handled at the moment.
  void NoteException() noexcept {
    message.clear();
    try {
      throw;
    } catch (const BrokenGame& broken) {
      error = ERROR_GAME;
      message = broken.what();
    } catch (const EndlessGame&) {
      error = ERROR_ENDLESS;
    } catch (const std::bad_alloc&) {
      error = ERROR_MEMORY;
    } catch (const std::exception& other) {
      error = IsSpielError(other) ? ERROR_SPIEL : ERROR_OTHER;
      message = other.what();
    } catch (...) {
      error = ERROR_OTHER;
      message = "OpenSpiel threw an object that is no std::exception.";
    }
  }
};

// A hash of 128 bits.
struct Key {
  uint64_t first = 0;
  uint64_t second = 0;

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
      for (size_t i = at; i < std::min(at + 8, text.size()); ++i) {
        word = word << 8 | static_cast<unsigned char>(text[i]);
      }
      Add(word);
    }
    Add(text.size());
  }
};

// xoshiro128++, as in random_stream.py.
class RandomWords {
 public:
  explicit RandomWords(int64_t* stream) : stream_(stream) {}

  // A uniform integer in [0, bound).
  int64_t Below(int64_t bound) { return static_cast<int64_t>((Word() * bound) >> 32); }

  // A uniform real number in [0, 1).
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

// The chance outcome at `unit`, in [0, 1), of the cumulative distribution.
[[maybe_unused]] inline Action SampledOutcome(const ActionsAndProbs& outcomes, double unit) {
  for (const auto& [action, probability] : outcomes) {
    unit -= probability;
    if (unit < 0.0) return action;
  }
  return outcomes.back().first;
}

[[maybe_unused]] inline ActionsAndProbs CheckedOutcomes(const State& state) {
  ActionsAndProbs outcomes = state.ChanceOutcomes();
  double total = 0.0;
  for (const auto& outcome : outcomes) total += outcome.second;
  if (!(std::abs(total - 1.0) < CHANCE_ROUNDING)) {
    Refuse("The probabilities of chance_outcomes() sum to ", total, ", not to 1.");
  }
  return outcomes;
}

[[maybe_unused]] inline void CheckPlayer(int player, int num_players) {
  if (player >= 0 && player < num_players) return;
  Refuse("current_player() gave ", player, ": a search needs a player from 0 to ",
         num_players - 1, ", CHANCE (", PLAYER_CHANCE, "), SIMULTANEOUS (", PLAYER_SIMULTANEOUS,
         ") or TERMINAL (", PLAYER_TERMINAL, ").");
}

[[maybe_unused]] inline void CheckSome(size_t count, int player) {
  if (count > 0) return;
  Refuse("legal_actions() is empty for player ", player, ", but the state is not terminal.");
}

[[maybe_unused]] inline void GiveReturns(const State& state, int num_players, double* row) {
  const std::vector<double> returns = state.Returns();
  if (static_cast<int>(returns.size()) != num_players) {
    Refuse("Expected returns for ", num_players, " players, got ", returns.size(), ".");
  }
  for (int player = 0; player < num_players; ++player) {
    if (!std::isfinite(returns[player])) {
      Refuse("Returns must be finite numbers, got ", returns[player], " for player ", player, ".");
    }
    row[player] = returns[player];
  }
}

// Who has a legal action where players move at the same time, and all of these actions.
struct Movers {
  std::vector<int> players;
  std::vector<std::vector<Action>> actions;

  void Find(const State& state) {
    players.clear();
    actions.clear();
    for (int player = 0; player < state.NumPlayers(); ++player) {
      std::vector<Action> legal = state.LegalActions(player);
      if (legal.empty()) continue;
      players.push_back(player);
      actions.push_back(std::move(legal));
    }
    if (players.empty()) {
      Refuse("legal_actions(player) is empty for every player, but the state is not terminal.");
    }
  }
};

// Opens what State keeps to its subclasses.
struct Opened : State {
  // Makes room for so many moves at once: growing little by little takes as long as the moves.
  static void ReserveHistory(State& state, size_t moves) {
    (state.*&Opened::history_).reserve(moves);
  }

  // Does the work of State::ApplyActions, which is not virtual.
  static void ApplyActions(State& state, const std::vector<Action>& actions) {
    (state.*&Opened::DoApplyActions)(actions);
    for (size_t player = 0; player < actions.size(); ++player) {
      (state.*&Opened::history_).push_back({static_cast<int>(player), actions[player]});
    }
    ++(state.*&Opened::move_number_);
  }
};

}  // namespace

#endif  // RAVE_OPENSPIEL_STATES_H_
