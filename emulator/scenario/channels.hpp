#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/channel/channel.hpp"
#include "emulator/channel/profile.hpp"
#include "emulator/channel/trace.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// Thrown if a capacity trace that a scenario names is in none of the searched folders; what() names these folders.
class TraceMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Loads or generates the capacity traces of an experiment and caches them, so that many runs share one copy.
/// Thread-safe.
class TraceLibrary {
 public:
  /// Creates a library that searches `folders` in this order. A name that is in none of them is also tried as a path of
  /// its own.
  explicit TraceLibrary(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// Returns the path of the trace file `name`. Throws TraceMissing if no searched folder contains it.
  [[nodiscard]] std::string find(const std::string& name) const;
  /// Returns the trace in the file `name`. Each file is read once. Throws TraceMissing if it is not found, TraceError
  /// if it is malformed.
  [[nodiscard]] std::shared_ptr<const CapacityTrace> load(const std::string& name);
  /// Returns the trace generated from the parameters of `spec` and `seed`. Equal parameters return one shared trace.
  [[nodiscard]] std::shared_ptr<const CapacityTrace> generate(const ChannelSpec& spec, std::uint64_t seed);
  /// Stores the capacity profiles that `make` returns from one run of another scenario, one per UE. `make` is only
  /// called if they are not stored yet.
  void make_profiles(const ProfileSpec& spec, std::uint64_t seed,
                     const std::function<std::vector<CapacityProfile>()>& make);
  /// Returns the profile that `spec` names. Throws std::invalid_argument if it is not stored. In real time no profile
  /// is stored, because make_profiles() is only called in virtual time. Also throws if the other scenario has no such
  /// UE.
  [[nodiscard]] std::shared_ptr<const CapacityProfile> profile(const ProfileSpec& spec, std::uint64_t seed);

 private:
  std::vector<std::string> folders_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const CapacityTrace>> traces_;
  std::mutex profiles_mutex_;  ///< Locked while profiles are made, so that only one thread makes them.
  std::map<std::string, std::vector<std::shared_ptr<const CapacityProfile>>> profiles_;
};

/// Returns the channel specifications of a scenario: those of UEs, of their own uplinks, and of handover targets.
[[nodiscard]] std::vector<const ChannelSpec*> all_channels(const Scenario& scenario);

/// Makes the channel model of UE number `ue` with the run's `seed`. Each UE and model has its own random stream.
/// Exceptions of `traces` and of the channels are passed on.
[[nodiscard]] std::unique_ptr<Channel> make_channel(const ChannelSpec& spec, Duration tti, std::uint64_t seed,
                                                    std::uint32_t ue, TraceLibrary& traces);

}  // namespace sluice::emulator
