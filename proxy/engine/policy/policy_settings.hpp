#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/smvs/fallback.hpp"
#include "control/smvs/second_loop.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// Table of the proxy's own modes: X(name, configuration word, text). The other modes are the per-flow window
/// controllers of control/window_laws/flow_controller.hpp.
#define SLUICE_OWN_MODES(X)                                                                 \
  X(bypass, "bypass", "forward untouched")                                                  \
  X(i_tcp, "i-tcp", "splits connections; ordinary congestion control on both legs")         \
  X(smvs, "smvs", "splits connections; smvs.law limits what the radio leg sends to the UE") \
  X(observe, "observe", "computes the decisions of another mode, changes nothing, and records both")

/// Mode: selects how connections are processed, by one of the proxy's own modes or by a per-flow window controller.
enum class Mode : std::uint8_t {
#define X(name, key, text) name,
  SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) name,
      SLUICE_FLOW_CONTROLLERS(X)
#undef X
};

/// Configuration name and description of a mode.
struct ModeText {
  Mode mode;
  std::string_view key;
  std::string_view text;
};
/// Name and description of each mode, indexed by Mode.
inline constexpr std::array mode_table = {
#define X(name, key, text) ModeText{Mode::name, key, text},
    SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) ModeText{Mode::name, key, text},
        SLUICE_FLOW_CONTROLLERS(X)
#undef X
};
/// Returns the configuration name of a mode.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) {
  return mode_table[static_cast<std::size_t>(mode)].key;
}

/// Returns the per-flow window controller of a mode; nothing for a mode without one.
[[nodiscard]] constexpr std::optional<control::FlowControllerKind> flow_controller_of(Mode mode) {
  constexpr std::size_t own = mode_table.size() - control::flow_controller_table.size();
  const auto number = static_cast<std::size_t>(mode);
  if (number < own) return std::nullopt;
  return static_cast<control::FlowControllerKind>(number - own);
}
/// True if the mode uses feedback: Node-B reports or the UE's ACKs.
[[nodiscard]] constexpr bool needs_feedback(Mode mode) {
  return mode == Mode::smvs || mode == Mode::observe || flow_controller_of(mode).has_value();
}

/// Selects where the SMVS controller runs, and from which input it computes the allowance (the bytes that may be sent).
enum class ControllerLocation : std::uint8_t {
  nodeb,  ///< SMVS runs at the Node-B, which reports the allowance, as in the paper
  proxy,  ///< SMVS runs at the proxy, on measurements that the Node-B reports
  acks    ///< the ACK-based controller runs at the proxy instead and needs no Node-B reports
          ///< (control/ack_based/delay_based_controller.hpp)
};

/// Properties of a mode that depend on where its controller runs. AllowanceLaw implements the controller itself.
struct ControllerLocationTraits {
  bool needs_reports = true;  ///< true if the controller needs Node-B reports, with the allowance or with measurements
};
/// Returns the properties that depend on where the controller runs.
[[nodiscard]] constexpr ControllerLocationTraits traits_of(ControllerLocation place) {
  return {place != ControllerLocation::acks};
}

/// Selects what limits the sending to a UE with a report-based controller while Node-B reports are late.
enum class WithoutReports : std::uint8_t {
  congestion_control,  ///< ordinary congestion control of each connection limits sending
  acks                 ///< the ACK-based controller limits sending while reports are late
};

/// Selects what happens with packets to a UE that belong to no split connection, such as QUIC, while the UE's window is
/// used up.
enum class CrossTraffic : std::uint8_t {
  queue,   ///< packets wait in a fair queue of the UE until the window opens
  forward  ///< packets are forwarded at once, and the controller counts their bytes as cross traffic
};

/// Settings of mode smvs and of its ACK-based alternative.
struct SmvsMode {
  ControllerLocation law = ControllerLocation::nodeb;
  control::SmvsParameters parameters;
  control::SecondLoopParameters receive_window;
  control::FallbackParameters fallback;
  WithoutReports without_reports = WithoutReports::congestion_control;
  control::DelayBasedParameters acks;
  CrossTraffic cross_traffic = CrossTraffic::queue;
  /// Number of sent bytes up to which a flow is a short flow, which has priority over the other flows of its UE; 0 = no
  /// priority.
  Bytes short_flow{256 * 1024};
  /// Factor applied to the controller's intended queue while a short flow is active beside downloads, 0 … 1.
  double short_flow_reference = 0.5;
};

/// Selects how the proxy intercepts connections.
enum class Intercept : std::uint8_t {
  automatic,  ///< connections are split if the mode supports it, else they stay end to end and ACKs are rewritten
  split,      ///< connections are split: the proxy terminates TCP and has one connection to each host
  regulate    ///< connections stay end to end; windows in their ACKs are rewritten and ACKs delayed
};
/// True if the mode can be applied to split connections.
[[nodiscard]] constexpr bool can_split(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode != Mode::bypass && mode != Mode::observe && (!law || text_of(*law).split);
}
/// True if the mode can be applied to end-to-end connections. Mode smvs can only be applied with the ACK-based
/// controller, because an allowance cannot be advertised to a server.
[[nodiscard]] constexpr bool can_regulate(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode == Mode::observe || mode == Mode::smvs || (law && text_of(*law).regulate);
}

/// Settings of a policy: the mode, and the parameters of every controller that it may use.
struct PolicySettings {
  Mode mode = Mode::i_tcp;
  Intercept intercept = Intercept::automatic;
  Mode observed = Mode::smvs;  ///< mode whose controller computes decisions in mode observe
  SmvsMode smvs;  ///< settings of mode smvs; their path delay, receive window and fallback apply to every controller
  control::LawParameters laws;  ///< parameters of the per-flow window controllers

  /// True in mode observe, in which controllers compute decisions that are not applied.
  [[nodiscard]] bool observes() const { return mode == Mode::observe; }
  /// Returns the mode whose controller runs: in mode observe the observed one.
  [[nodiscard]] Mode law() const { return observes() ? observed : mode; }
  /// True if the controller, or the observed one, needs Node-B reports. A controller that only divides a buffer of
  /// configured size needs none.
  [[nodiscard]] bool needs_reports() const {
    if (law() == Mode::smvs) return traits_of(smvs.law).needs_reports;
    const auto flow_controller = flow_controller_of(law());
    const bool told_all =
        flow_controller && control::text_of(*flow_controller).needs_buffer_only && laws.buffer > Bytes{};
    return needs_feedback(mode) && !told_all;
  }
  /// True if the UEs' ACKs are the input of the ACK-based controller, which limits sending always or while Node-B
  /// reports are late.
  [[nodiscard]] bool uses_ack_feedback() const {
    return law() == Mode::smvs && (!traits_of(smvs.law).needs_reports || smvs.without_reports == WithoutReports::acks);
  }
  /// True if the controller intends a shorter queue while short flows are active.
  [[nodiscard]] bool prioritizes_short_flows() const {
    return law() == Mode::smvs && smvs.short_flow > Bytes{} && smvs.short_flow_reference < 1;
  }
  /// True if the controller can be applied to end-to-end connections.
  [[nodiscard]] bool can_regulate() const {
    return proxy::can_regulate(mode) && (mode != Mode::smvs || smvs.law == ControllerLocation::acks);
  }
  /// True if connections stay end to end and a controller rewrites their ACKs.
  [[nodiscard]] bool regulates() const {
    return can_regulate() && (intercept == Intercept::regulate || !can_split(mode));
  }
  /// True if the controller is applied to end-to-end connections. In mode observe, true if the observed mode would do
  /// so.
  [[nodiscard]] bool controls_end_to_end() const {
    return observes() ? intercept == Intercept::regulate || !can_split(observed) : regulates();
  }
  /// True if connections are split. If this and regulates() are both false, connections pass unchanged.
  [[nodiscard]] bool splits() const { return can_split(mode) && !regulates(); }
};

}  // namespace sluice::proxy
