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

/// A trace that a scenario names and that is nowhere to be found; what() says what was looked for and where.
class TraceMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Finds and keeps the capacity traces of an experiment, so that many runs share one copy. Callable from several
/// threads at once.
class TraceLibrary {
 public:
  /// `folders` are searched in order; a name with a path is also tried as it is.
  explicit TraceLibrary(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// The path of a trace. Throws TraceMissing when it is nowhere.
  [[nodiscard]] std::string find(const std::string& name) const;
  /// Throws TraceMissing when it is nowhere, TraceError when it is broken.
  [[nodiscard]] std::shared_ptr<const CapacityTrace> load(const std::string& name);
  /// A generated trace; the same parameters give the same one.
  [[nodiscard]] std::shared_ptr<const CapacityTrace> generate(const ChannelSpec& spec, std::uint64_t seed);
  /// Keeps the profiles of one run of another scenario, by UE; `make` is called where they are not there yet.
  void make_profiles(const ProfileSpec& spec, std::uint64_t seed,
                     const std::function<std::vector<CapacityProfile>()>& make);
  /// One of them. Throws std::invalid_argument when they have not been made: outside virtual time.
  [[nodiscard]] std::shared_ptr<const CapacityProfile> profile(const ProfileSpec& spec, std::uint64_t seed);

 private:
  std::vector<std::string> folders_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const CapacityTrace>> traces_;
  std::mutex profiles_mutex_;  ///< also while they are made, so that this is done once
  std::map<std::string, std::vector<std::shared_ptr<const CapacityProfile>>> profiles_;
};

/// Every link of a scenario: of UEs, of uplinks of their own, and those that handovers lead to.
[[nodiscard]] std::vector<const ChannelSpec*> all_channels(const Scenario& scenario);

/// The channel of UE number `ue`. `seed`: of the run; each UE and kind of model has its own stream. Throws what the
/// library and the channels throw.
[[nodiscard]] std::unique_ptr<Channel> make_channel(const ChannelSpec& spec, Duration tti, std::uint64_t seed,
                                                    std::uint32_t ue, TraceLibrary& traces);

}  // namespace sluice::emulator
