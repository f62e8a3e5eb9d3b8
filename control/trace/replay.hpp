#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/trace/laws.hpp"
#include "control/trace/read_fields.hpp"

namespace sluice::control {

/// What a replay came to.
struct ReplayTotals {
  std::uint64_t decisions = 0;  ///< calls that were repeated
  std::uint64_t laws = 0;
  std::uint64_t differing = 0;  ///< of the decisions: another outcome than recorded
  std::uint64_t unknown = 0;    ///< calls that could not be repeated: of a law whose state is not known
  std::uint64_t lost = 0;       ///< lines that the trace lacks
  bool complete = false;        ///< it ends as it should
};

/// Makes the laws of a trace again from the states in it, repeats every call, and compares what comes out. With other
/// parameters it tells what the laws would have decided about what they were told; what they were told is as recorded,
/// since nobody can know what hosts and radio would have made of other decisions. No clock inside; thread: its owner's.
class Replay {
 public:
  /// A parameter that is to be another than recorded, wherever a law has it: "gain" = "1.5", "clamp.gain" = "600",
  /// "reference" = "30ms".
  struct Change {
    std::string name;
    std::string value;
    bool used = false;
  };
  /// A decision with another outcome: both, as JSON.
  struct Difference {
    std::uint64_t line;  ///< from 1
    const nlohmann::json& recorded;
    const nlohmann::json& out;  ///< what came out now
  };
  using OnDifference = std::function<void(const Difference&)>;

  /// Lines longer than this are none.
  static constexpr std::size_t longest_line = 65'536;

  explicit Replay(OnDifference differs, std::vector<Change> changes = {});

  /// The next line, without its end. Throws ReplayError with its number, the place in it, and what was expected.
  void take(std::string_view line);
  [[nodiscard]] const ReplayTotals& totals() const { return totals_; }
  /// Those that no law of the trace had a use for so far.
  [[nodiscard]] std::vector<std::string> unused_changes() const;

 private:
  using Law = std::variant<AckClockedWindow, Smvs, NodeBAllowance, ReceiveWindowLoop, FlowLaw>;

  void take_line(const nlohmann::json& line);
  void check_beginning(const nlohmann::json& line) const;
  void make(const nlohmann::json& line);
  void repeat(const nlohmann::json& line);
  [[nodiscard]] nlohmann::json changed(nlohmann::json made_of);
  [[nodiscard]] std::uint32_t number_in(const nlohmann::json& line) const;

  OnDifference differs_;
  std::vector<Change> changes_;
  std::map<std::uint32_t, Law> laws_;
  std::set<std::uint32_t> seen_;  ///< numbers of laws, those that have gone, too
  ReplayTotals totals_;
  std::uint64_t lines_ = 0;
};

}  // namespace sluice::control
