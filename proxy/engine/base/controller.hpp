#pragma once

#include <array>
#include <cstdint>

namespace sluice::proxy {

/// Bits of which the values of the enumeration Controller consist. Each bit stands for one property of a controller, so
/// that one bit test checks the property.
struct ControllerProperty {
  static constexpr std::uint8_t none = 0;
  /// a controller has the input that it needs, such as Node-B reports or ACKs, and computes decisions
  static constexpr std::uint8_t computes = 1;
  /// The controller's decisions limit what the radio legs (TCP endpoints facing the UE) send.
  static constexpr std::uint8_t limits = 2;
  static constexpr std::uint8_t ack_based = 4;   ///< the ACK-based controller computes the decisions
  static constexpr std::uint8_t per_flow = 8;    ///< a per-flow window controller computes a window for each connection
  static constexpr std::uint8_t both_ways = 16;  ///< the per-flow window is also written into ACKs towards the UE
  static constexpr std::uint8_t budget = 32;     ///< one send budget for all flows of the bearer limits their bytes in
                                                 ///< flight
  static constexpr std::uint8_t inflight = 64;   ///< the per-flow window limits each flow's bytes in flight

  // Properties that a kind of controller always has.
  static constexpr std::uint8_t by_reports = computes;
  static constexpr std::uint8_t by_acks = computes | ack_based;
  static constexpr std::uint8_t of_flows = computes | per_flow;
  static constexpr std::uint8_t of_flows_both_ways = of_flows | both_ways;
  // Properties that it also has while its decisions are applied.
  static constexpr std::uint8_t limits_bearer = limits | budget;
  static constexpr std::uint8_t limits_flows = limits | inflight;
};

/// List of what can control the radio legs (TCP endpoints facing the UE) of a bearer: X(name, word, kind, applied).
/// Status displays show `word`, which names what limits the sending to the UE. `kind` is the set of properties
/// (ControllerProperty) of the controller. `applied` is the set of further properties that it has because its decisions
/// are applied. In observed_* entries `applied` is `none`, because mode observe applies no decision, so that congestion
/// control limits the sending.
#define SLUICE_CONTROLLERS(X)                                             \
  X(congestion_control, "congestion control", none, none)                 \
  X(reports, "feedback", by_reports, limits_bearer)                       \
  X(acks, "acknowledgements", by_acks, limits_bearer)                     \
  X(flow_windows, "feedback", of_flows, limits_flows)                     \
  X(flow_windows_both_ways, "feedback", of_flows_both_ways, limits_flows) \
  X(observed_reports, "congestion control", by_reports, none)             \
  X(observed_acks, "congestion control", by_acks, none)                   \
  X(observed_flow_windows, "congestion control", of_flows, none)          \
  X(observed_flow_windows_both_ways, "congestion control", of_flows_both_ways, none)

/// Selects what controls the radio legs (TCP endpoints facing the UE) of a bearer. The value is a set of
/// ControllerProperty bits.
enum class Controller : std::uint8_t {
#define X(name, word, kind, applied) name = ControllerProperty::kind | ControllerProperty::applied,
  SLUICE_CONTROLLERS(X)
#undef X
};

/// Entry of controller_table: a Controller and the word that status displays show for it. The word names what limits
/// the sending to the UE.
struct ControllerText {
  Controller controller;
  const char* word;
};
/// Words that status displays show, one for each Controller. Each word names what limits the sending to the UE.
inline constexpr std::array controller_table = {
#define X(name, word, kind, applied) ControllerText{Controller::name, word},
    SLUICE_CONTROLLERS(X)
#undef X
};
/// Returns the word that status displays show for this controller, such as "feedback". The word names what limits the
/// sending to the UE. In mode observe this is congestion control.
[[nodiscard]] constexpr const char* to_string(Controller controller) {
  for (const ControllerText& text : controller_table) {
    if (text.controller == controller) return text.word;
  }
  return "?";
}

/// True if the controller has the given property (a bit of ControllerProperty).
[[nodiscard]] constexpr bool has(Controller controller, std::uint8_t property) {
  return (static_cast<std::uint8_t>(controller) & property) != 0;
}

}  // namespace sluice::proxy
