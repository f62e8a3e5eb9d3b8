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
  std::uint64_t decisions = 0;  ///< number of calls that were repeated
  std::uint64_t laws = 0;
  std::uint64_t differing = 0;  ///< number of repeated calls whose outcome differs from the recorded one
  std::uint64_t unknown = 0;    ///< number of calls that were not repeated, because the controller's state is unknown
  std::uint64_t lost = 0;       ///< number of lines that the decision log states as lost
  bool complete = false;        ///< true if the decision log has its final line
};

/// Replays a decision log: constructs its controllers from their recorded states, repeats every call and compares the
/// outcomes. If parameters are changed, the outcomes are the decisions of the changed controllers on the recorded
/// inputs. The inputs stay as recorded, because the reaction of hosts and radio to other decisions is unknown. Reads no
/// clock. Thread: one.
class Replay {
 public:
  /// Value that replaces a parameter in every controller that has this parameter. Examples of name and value are "gain"
  /// = "1.5", "clamp.gain" = "600" and "reference" = "30ms".
  struct Change {
    std::string name;
    std::string value;
    bool used = false;
  };
  /// Describes a repeated call whose outcome differs from the recorded one; both outcomes are JSON.
  struct Difference {
    std::uint64_t line;  ///< number of the line in the decision log, from 1
    const nlohmann::json& recorded;
    const nlohmann::json& out;  ///< outcome of the repeated call
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
  /// Controller whose calls are repeated.
  struct Repeated {
    std::shared_ptr<const void> parameters;  ///< owner of the parameters to which the controller may refer
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
