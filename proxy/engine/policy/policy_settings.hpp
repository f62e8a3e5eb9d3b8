#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/fallback.hpp"
#include "control/smvs/second_loop.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// The proxy's own modes: configuration name and text from one line. The other modes are the per-flow window
/// controllers of control/window_laws/flow_controller.hpp.
#define SLUICE_OWN_MODES(X)                                                 \
  X(bypass, "bypass", "forward untouched")                                  \
  X(i_tcp, "i-tcp", "split, ordinary congestion control on both legs")      \
  X(smvs, "smvs", "split, the radio leg sends what smvs.law grants the UE") \
  X(observe, "observe", "computes what another mode would decide, changes nothing, and records both")

/// How connections are processed: the proxy's own modes, then one for each per-flow window controller.
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

/// Where the SMVS law is computed, and from what.
enum class ControllerLocation : std::uint8_t {
  nodeb,  ///< the Node-B reports the allowance, as in the paper
  proxy,  ///< the Node-B reports measurements, and the proxy computes the allowance
  acks    ///< ACK-based controller, which needs no report (control/ack_based/delay_based_controller.hpp)
};

/// Properties that follow from the place of the law. AllowanceLaw implements the law itself.
struct ControllerLocationTraits {
  bool needs_reports = true;  ///< reports contain the allowance, or the measurements for it
};
/// Returns the properties of a place of the law.
[[nodiscard]] constexpr ControllerLocationTraits traits_of(ControllerLocation place) {
  return {place != ControllerLocation::acks};
}

/// What limits a bearer with a report-based controller while reports are late.
enum class WithoutReports : std::uint8_t {
  congestion_control,  ///< ordinary congestion control of each connection
  acks                 ///< the ACK-based controller
};

/// Settings of SMVS in the proxy.
struct SmvsMode {
  ControllerLocation law = ControllerLocation::nodeb;
  control::SmvsParameters parameters;
  control::SecondLoopParameters receive_window;
  control::FallbackParameters fallback;
  WithoutReports without_reports = WithoutReports::congestion_control;
  control::DelayBasedParameters acks;
  /// Bytes up to which a flow is a short flow, which is served before the others of its bearer; 0 = no priority.
  Bytes short_flow{256 * 1024};
  /// Factor for the controller's queue target while a short flow is active beside downloads, 0 … 1.
  double short_flow_reference = 0.5;
};

/// How the proxy intercepts connections.
enum class Intercept : std::uint8_t {
  automatic,  ///< split if the mode supports it, else regulate
  split,      ///< the proxy terminates TCP: one connection to each host
  regulate    ///< the connection stays end to end; windows in its ACKs are rewritten and ACKs delayed
};
/// True if the mode can be applied to split connections.
[[nodiscard]] constexpr bool can_split(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode != Mode::bypass && mode != Mode::observe && (!law || text_of(*law).split);
}
/// True if the mode can be applied to end-to-end connections. SMVS can only with the ACK-based controller, because an
/// allowance cannot be advertised to a server.
[[nodiscard]] constexpr bool can_regulate(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode == Mode::observe || mode == Mode::smvs || (law && text_of(*law).regulate);
}

/// Settings of a policy: the mode, and the parameters of every controller that it may use.
struct PolicySettings {
  Mode mode = Mode::i_tcp;
  Intercept intercept = Intercept::automatic;
  Mode observed = Mode::smvs;   ///< mode whose decisions mode observe computes; it needs feedback
  SmvsMode smvs;                ///< path to the Node-B, receive window and fallback in it apply to every controller
  control::LawParameters laws;  ///< parameters of the per-flow window controllers

  /// True in mode observe, which computes decisions without applying them.
  [[nodiscard]] bool observes() const { return mode == Mode::observe; }
  /// Returns the mode whose controller runs.
  [[nodiscard]] Mode law() const { return observes() ? observed : mode; }
  /// True if the controller needs Node-B reports. A controller that only divides a buffer of configured size needs
  /// none.
  [[nodiscard]] bool needs_reports() const {
    if (mode == Mode::smvs) return traits_of(smvs.law).needs_reports;
    const auto flow_controller = flow_controller_of(mode);
    const bool told_all =
        flow_controller && control::text_of(*flow_controller).needs_buffer_only && laws.buffer > Bytes{};
    return needs_feedback(mode) && !told_all;
  }
  /// True if the UEs' ACKs feed the ACK-based controller, which steers always or while reports are late.
  [[nodiscard]] bool uses_ack_feedback() const {
    return mode == Mode::smvs && (!traits_of(smvs.law).needs_reports || smvs.without_reports == WithoutReports::acks);
  }
  /// True if the controller lowers its queue target for short flows.
  [[nodiscard]] bool prioritizes_short_flows() const {
    return law() == Mode::smvs && smvs.short_flow > Bytes{} && smvs.short_flow_reference < 1;
  }
  /// True if the controller can be applied to end-to-end connections.
  [[nodiscard]] bool can_regulate() const {
    return proxy::can_regulate(mode) && (mode != Mode::smvs || smvs.law == ControllerLocation::acks);
  }
  /// True if connections stay end to end under a controller.
  [[nodiscard]] bool regulates() const {
    return can_regulate() && (intercept == Intercept::regulate || !can_split(mode));
  }
  /// True if connections are split. If this and regulates() are both false, connections pass unchanged.
  [[nodiscard]] bool splits() const { return can_split(mode) && !regulates(); }
};

}  // namespace sluice::proxy
