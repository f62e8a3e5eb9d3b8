#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/decision_log/read_fields.hpp"
#include "control/decision_log/recorded_controllers.hpp"

namespace sluice::control {

/// Counts of a replay: how many recorded calls were repeated, and with which outcome.
struct ReplayTotals {
  std::uint64_t decisions = 0;  ///< number of recorded calls of controllers that the replay has made again
  std::uint64_t laws = 0;
  std::uint64_t differing = 0;  ///< number of calls made again whose outcome differs from the recorded one
  /// number of recorded calls that the replay cannot make again, because the controller's state before them is not in
  /// the log
  std::uint64_t unknown = 0;
  std::uint64_t lost = 0;  ///< number of lines that were lost during the recording, as the decision log itself states
  bool complete = false;   ///< true if the decision log has its final line, so its end is not missing
};

/// Replays a decision log: constructs its controllers from their recorded states, repeats every call and compares the
/// outcomes. If parameters are changed, the outcomes are the decisions of the changed controllers on the recorded
/// inputs. The inputs stay as recorded, because the reaction of hosts and radio to other decisions is unknown. Reads no
/// clock. Not thread-safe.
class Replay {
 public:
  /// Value that replaces a parameter in every controller that has this parameter. Examples of name and value are "gain"
  /// = "1.5", "clamp.gain" = "600" and "reference" = "30ms".
  struct Change {
    std::string name;
    std::string value;
    bool used = false;
  };
  /// Describes a recorded call that was made again with another outcome than the recorded one. Both outcomes are JSON.
  struct Difference {
    std::uint64_t line;  ///< number of the line in the decision log; the first line has the number 1
    const nlohmann::json& recorded;
    const nlohmann::json& out;  ///< outcome of the call when the replay made it again
  };
  using OnDifference = std::function<void(const Difference&)>;

  /// Length in bytes of the longest line that is accepted.
  static constexpr std::size_t longest_line = 65'536;

  explicit Replay(OnDifference differs, std::vector<Change> changes = {});

  /// Processes the next line of the decision log, without its line end. Throws ReplayError with the line number, the
  /// place in the line, and what was expected.
  void take(std::string_view line);
  [[nodiscard]] const ReplayTotals& totals() const { return totals_; }
  /// Returns the parameter changes that no controller of the log has used so far.
  [[nodiscard]] std::vector<std::string> unused_changes() const;

 private:
  using Law = std::variant<DelayBasedController, Smvs, NodeBAllowance, ReceiveWindowLoop, FlowController>;
  /// Controller that the replay has constructed, and whose recorded calls it makes again.
  struct Repeated {
    /// keeps the parameters alive, because the controller may only refer to them
    std::shared_ptr<const void> parameters;
    Law law;
  };

  void take_line(const nlohmann::json& line);
  void check_beginning(const nlohmann::json& line) const;
  void make(const nlohmann::json& line);
  void repeat(const nlohmann::json& line);
  [[nodiscard]] nlohmann::json changed(nlohmann::json made_of);
  [[nodiscard]] std::uint32_t number_in(const nlohmann::json& line) const;

  OnDifference differs_;
  std::vector<Change> changes_;
  std::map<std::uint32_t, Repeated> laws_;
  std::set<std::uint32_t> seen_;  ///< numbers of all controllers in the log so far, including those that ended
  ReplayTotals totals_;
  std::uint64_t lines_ = 0;
};

}  // namespace sluice::control
