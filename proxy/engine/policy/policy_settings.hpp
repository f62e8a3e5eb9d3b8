#pragma once

#include <algorithm>
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
#include "dataplane/units/rate.hpp"

namespace sluice::proxy {

/// Table of the proxy's own modes: X(identifier, configuration word, text). Each per-flow window controller in
/// control/window_laws/flow_controller.hpp is one more mode.
#define SLUICE_OWN_MODES(X)                                                                 \
  X(bypass, "bypass", "forward untouched")                                                  \
  X(i_tcp, "i-tcp", "splits connections; ordinary congestion control on both legs")         \
  X(smvs, "smvs", "splits connections; smvs.law limits what the radio leg sends to the UE") \
  X(observe, "observe", "computes the decisions of another mode, changes nothing, and records both")

/// Selects how connections are processed. A mode is one of the proxy's own modes, or a per-flow window controller.
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

/// Returns the per-flow window controller that a mode selects, or nothing if the mode selects none.
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

/// Selects where the controller of mode smvs runs, and from which input it computes how much may be sent to the UE.
enum class ControllerLocation : std::uint8_t {
  /// the Node-B computes the allowance (bytes to send until the next report) by SMVS (the sliding-mode controller) and
  /// reports it, as in the SMVS paper
  nodeb,
  /// the proxy computes the allowance (bytes to send until the next report) by SMVS (the sliding-mode controller) from
  /// measurements that the Node-B reports
  proxy,
  /// The ACK-based controller runs at the proxy (control/ack_based/delay_based_controller.hpp). It needs no Node-B
  /// reports. If reports arrive with less delay than ACKs, SMVS (the sliding-mode controller) runs at the proxy with
  /// these reports instead.
  acks
};

/// Properties of the controller of mode smvs that depend on where it runs.
struct ControllerLocationTraits {
  /// true if the controller needs Node-B reports, which contain the allowance (bytes to send until the next report) or
  /// measurements
  bool needs_reports = true;
};
/// Returns the properties of the controller of mode smvs if it runs at this location.
[[nodiscard]] constexpr ControllerLocationTraits traits_of(ControllerLocation place) {
  return {place != ControllerLocation::acks};
}

/// Selects what limits the sending to a UE while Node-B reports are late. Applies to mode smvs if its controller needs
/// reports (SmvsSettings::law is `nodeb` or `proxy`).
enum class WithoutReports : std::uint8_t {
  congestion_control,  ///< the congestion control of each connection limits the sending
  acks                 ///< the ACK-based controller limits the sending
};

/// Selects how cross traffic to a UE is sent while the controller's window for the UE is full. Cross traffic consists
/// of packets of no split or end-to-end connection, such as QUIC.
enum class CrossTraffic : std::uint8_t {
  queue,  ///< the packets wait in a fair queue of the UE until the controller's window opens
  /// The packets are forwarded at once, and the controller counts their bytes as traffic that shares the radio queue.
  forward
};

/// Selects whether a QUIC download to a UE is limited although the controller gets neither Node-B reports nor TCP ACKs
/// of the UE. The controller can use answers instead: the short datagrams that the UE sends in the download's flow.
enum class UplinkAnswers : std::uint8_t {
  /// answers are counted as acknowledgements, so that the controller can limit the download
  /// (control/ack_based/answer_clock.hpp)
  count,
  ignore  ///< answers are not counted, and the download is forwarded at once
};

/// Selects how a split upload of a UE is limited while the UE has downloads under the ACK-based controller.
enum class UploadWindows : std::uint8_t {
  /// The window that the proxy advertises to the UE keeps the queue of the UE's modem short
  /// (control/ack_based/upload_window.hpp).
  limited,
  unlimited  ///< only the proxy's memory limits the window
};

/// Selects what the proxy does with uploads of a UE while the UE's packets wait long for its uplink. Uploads are split
/// connections, QUIC and others.
enum class Uplink : std::uint8_t {
  forward,  ///< the packets are forwarded unchanged
  /// some packets of the largest uploads are dropped or get a CE mark, so that their senders slow down
  /// (proxy/engine/rate_control/uplink_aqm.hpp)
  aqm
};

/// Settings of mode smvs: those of the sliding-mode controller, and those of the ACK-based controller that can replace
/// it.
struct SmvsSettings {
  ControllerLocation law = ControllerLocation::nodeb;
  control::SmvsParameters parameters;
  control::SecondLoopParameters receive_window;
  control::FallbackParameters fallback;
  WithoutReports without_reports = WithoutReports::congestion_control;
  control::DelayBasedParameters acks;
  CrossTraffic cross_traffic = CrossTraffic::queue;
  UplinkAnswers uplink_answers = UplinkAnswers::ignore;
  UploadWindows upload_windows = UploadWindows::limited;
  Uplink uplink = Uplink::forward;
  /// Size of a short flow: a flow that has sent fewer bytes gets priority over other flows of its UE; 0 means no
  /// priority.
  Bytes short_flow{256 * 1024};
  /// Factor (0 … 1) by which the controller's target queue is multiplied while a short flow (less than `short_flow`
  /// bytes sent) is active beside downloads.
  double short_flow_reference = 0.5;
};

/// Selects whether the proxy splits connections, or leaves them end to end and rewrites their ACKs.
enum class Intercept : std::uint8_t {
  /// a mode that supports split connections splits them; in other modes connections stay end to end and their ACKs are
  /// rewritten
  automatic,
  split,    ///< the proxy terminates TCP and has a separate connection to each host
  regulate  ///< connections stay end to end; the proxy rewrites windows in their ACKs and delays ACKs
};
/// True if the mode supports split connections.
[[nodiscard]] constexpr bool can_split(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode != Mode::bypass && mode != Mode::observe && (!law || text_of(*law).split);
}
/// True if the mode supports end-to-end connections under a controller. Mode smvs does so only with the ACK-based
/// controller, which PolicySettings::can_regulate() checks. The report-based one cannot, because no ACK can carry an
/// allowance (bytes to send per report) to a server.
[[nodiscard]] constexpr bool can_regulate(Mode mode) {
  const auto law = flow_controller_of(mode);
  return mode == Mode::observe || mode == Mode::smvs || (law && text_of(*law).regulate);
}

/// Settings of a policy: the mode, and the parameters of every controller that it may use.
struct PolicySettings {
  Mode mode = Mode::i_tcp;
  Intercept intercept = Intercept::automatic;
  Mode observed = Mode::smvs;  ///< mode whose controller runs, without effect on the traffic, if `mode` is observe
  /// Settings of mode smvs. Other modes with a controller also use its path delay, its receive-window settings and its
  /// fallback settings.
  SmvsSettings smvs;
  control::FlowControllerParameters laws;  ///< parameters of the per-flow window controllers
  Rate scone_rate;  ///< largest rate that SCONE packets to UEs advise; zero: no limit by configuration
  /// share (0 … 1) of the long-term rate of the UE's link that SCONE packets to the UE advise at most; zero: the link's
  /// rate has no influence
  double scone_link_share = 0;

  /// True in mode observe, in which a controller computes decisions that are not applied.
  [[nodiscard]] bool observes() const { return mode == Mode::observe; }
  /// Returns the mode whose controller runs. This is `mode`, or `observed` in mode observe, in which a controller
  /// computes decisions that are not applied.
  [[nodiscard]] Mode law() const { return observes() ? observed : mode; }
  /// True if the controller that runs needs Node-B reports. A per-flow window controller needs none if it only divides
  /// a buffer whose size is configured.
  [[nodiscard]] bool needs_reports() const {
    if (law() == Mode::smvs) return traits_of(smvs.law).needs_reports;
    const auto flow_controller = flow_controller_of(law());
    const bool told_all =
        flow_controller && control::text_of(*flow_controller).needs_buffer_only && laws.buffer > Bytes{};
    return needs_feedback(mode) && !told_all;
  }
  /// True if the ACK-based controller gets the UE's ACKs as input. With ControllerLocation::acks it limits the sending
  /// unless Node-B reports have less delay than ACKs. Otherwise it does so only while reports are late.
  [[nodiscard]] bool uses_ack_feedback() const {
    return law() == Mode::smvs && (!traits_of(smvs.law).needs_reports || smvs.without_reports == WithoutReports::acks);
  }
  /// True if the controller reduces its target queue while short flows (less than `short_flow` bytes sent) of the UE
  /// are active.
  [[nodiscard]] bool prioritizes_short_flows() const {
    return law() == Mode::smvs && smvs.short_flow > Bytes{} && smvs.short_flow_reference < 1;
  }
  /// True if the controller that these settings select supports end-to-end connections, which it limits by the windows
  /// in their ACKs.
  [[nodiscard]] bool can_regulate() const {
    return proxy::can_regulate(mode) && (mode != Mode::smvs || smvs.law == ControllerLocation::acks);
  }
  /// True if connections stay end to end and a controller computes the windows in their ACKs. In mode observe these
  /// windows are only recorded.
  [[nodiscard]] bool regulates() const {
    return can_regulate() && (intercept == Intercept::regulate || !can_split(mode));
  }
  /// True if a controller runs for end-to-end connections. In mode observe its decisions are only computed.
  [[nodiscard]] bool controls_end_to_end() const {
    return observes() ? intercept == Intercept::regulate || !can_split(observed) : regulates();
  }
  /// True if connections are split. If both splits() and regulates() are false, connections pass unchanged.
  [[nodiscard]] bool splits() const { return can_split(mode) && !regulates(); }
};

/// True if these settings permit counting the short datagrams (answers) with which a UE responds to a QUIC download.
/// The controller can then limit the download although it gets neither Node-B reports nor TCP ACKs.
[[nodiscard]] inline bool counts_answers(const PolicySettings& settings) {
  return settings.mode == Mode::smvs && settings.smvs.cross_traffic == CrossTraffic::queue &&
         settings.smvs.uplink_answers == UplinkAnswers::count && settings.smvs.law == ControllerLocation::acks &&
         !settings.controls_end_to_end();
}

/// True if the rate signal of SCONE packets may be lowered under these settings, or in mode observe would be.
[[nodiscard]] inline bool advises_rates(const PolicySettings& settings) {
  return (settings.scone_rate > Rate() || settings.scone_link_share > 0) && settings.mode != Mode::bypass;
}

/// True if SCONE packets may advise a share of the link's long-term rate under these settings. In mode observe the
/// packets are only counted.
[[nodiscard]] inline bool advises_link_rates(const PolicySettings& settings) {
  return settings.scone_link_share > 0 && settings.mode != Mode::bypass;
}

/// Returns the rate that SCONE packets advise at most under these settings. `link` is the long-term rate of the UE's
/// link; zero: unknown. Returns zero if no rate is advised, because none is configured and that of the link is unknown.
[[nodiscard]] inline Rate advised_rate(const PolicySettings& settings, Rate link) {
  const Rate of_link = link * settings.scone_link_share;
  if (of_link <= Rate()) return settings.scone_rate;
  return settings.scone_rate > Rate() ? std::min(settings.scone_rate, of_link) : of_link;
}

/// True if uploads that match a policy with these settings may lose packets, or get CE marks. That happens while the
/// UE's packets wait long for its uplink. In mode observe such packets are only counted.
[[nodiscard]] constexpr bool controls_uplink(const PolicySettings& settings) {
  return settings.smvs.uplink == Uplink::aqm;
}

/// True if cross traffic that matches a policy with these settings may wait until the controller's window for the UE
/// opens. Cross traffic consists of packets of no split or end-to-end connection, such as QUIC.
[[nodiscard]] constexpr bool queues_cross_traffic(const PolicySettings& settings) {
  return settings.smvs.cross_traffic == CrossTraffic::queue;
}

}  // namespace sluice::proxy
