#pragma once

#include <cmath>
#include <optional>

#include "control/window_laws/ack_regulator.hpp"
#include "control/window_laws/ack_release.hpp"
#include "control/window_laws/clamp_window.hpp"
#include "control/window_laws/fair_share.hpp"
#include "control/window_laws/flow_controller_hooks.hpp"
#include "control/window_laws/flow_controller_tables.hpp"
#include "control/window_laws/gwa.hpp"
#include "control/window_laws/queue_view.hpp"
#include "control/window_laws/window_regulator.hpp"

namespace sluice::control {

/// Parameters of all per-flow window controllers, as a policy of the configuration states them.
struct FlowControllerParameters {
  /// B: buffer of a UE's radio queue, in bytes. If zero, the reported size is used, or 64 KiB if reports contain none.
  Bytes buffer;
  /// Longest time for which any controller may withhold an ACK, > 0. It is below the shortest retransmission timeout in
  /// use (200 ms), because a longer time would cause retransmissions.
  Duration max_ack_delay = std::chrono::milliseconds(150);
#define X(name, key, type, text) type name;
  SLUICE_FLOW_CONTROLLER_PARAMETERS(X)
#undef X
};

/// CLAMP (ClampWindow) as the controller of one flow. It treats acknowledged bytes as arrived data, because the UE has
/// just received them.
///
/// When CLAMP replaces another controller, its first window is the sum of three amounts: the bytes on the path, the
/// flow's share of CLAMP's target queue, and τ (ClampWindowParameters::gain). The Node-B's price depends on a mean
/// queue, which still contains the previous controller's queue for seconds. With that price the window would close, and
/// reopen only by τ per round trip. So the window stays fixed until the old queue has emptied, for at most one second.
/// After that, CLAMP uses a price computed from the current queue, until the reported price is as low.
class ClampController : public FlowControllerHooks {
 public:
  ClampController(const FlowControllerParameters& parameters, const FlowControllerStart& start);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  [[nodiscard]] Bytes window(Bytes ack, const QueueView& queue, const FlowView& flow) const;
  void seed(Bytes window, const QueueView& queue);

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  enum class Start : std::uint8_t { over, draining, remembering };
  [[nodiscard]] Bytes target(const QueueView& queue) const;
  [[nodiscard]] Duration price(Instant now, const QueueView& queue);

  Bytes segment_;
  /// A in the formula of CLAMP's price: queue length that b times the mean queue must exceed, so that the price is
  /// positive.
  Reference target_;
  double slope_;
  Bytes frame_;
  Instant draining_until_ = never;
  Start start_ = Start::over;
  ClampWindow window_;
};

/// Window Regulator as the controller of one flow, in its three forms WRS, WRD and WRB. B is the equal share of the
/// radio buffer that one flow gets.
template <WindowRegulation form>
class WindowRegulatorController : public FlowControllerHooks {
 public:
  WindowRegulatorController(const FlowControllerParameters& parameters, const FlowControllerStart& start);
  [[nodiscard]] AckRelease on_queue(const QueueView& queue, const FlowView& flow);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  void on_released(Bytes ack, Bytes window) { regulator_.on_released(ack, window); }
  [[nodiscard]] Bytes window(Bytes ack, const QueueView&, const FlowView&) const { return regulator_.window(ack); }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes segment_;
  WindowRegulator regulator_;
};

/// Ack Regulator as the controller of one flow. B is the equal share of the radio buffer that one flow gets.
class AckRegulatorController : public FlowControllerHooks {
 public:
  AckRegulatorController(const FlowControllerParameters& parameters, const FlowControllerStart& start);
  void on_data(Bytes end) { regulator_.on_data(end); }
  [[nodiscard]] AckRelease on_queue(const QueueView& queue, const FlowView& flow);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  void on_released(Bytes ack, Bytes /*window*/) { regulator_.on_released(ack); }
  void seed(Bytes /*window*/, const QueueView&) { regulator_.source_runs(); }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes segment_;
  AckRegulator regulator_;
};

/// Generalized Window Advertising as the controller of one flow. In the paper's GWA-RR each flow has a queue of its
/// own. Here all flows share one queue, so the flow's bytes in the shared queue are used instead.
template <GwaPolicy policy>
class GwaController : public FlowControllerHooks {
 public:
  GwaController(const FlowControllerParameters& parameters, const FlowControllerStart& start)
      : segment_(start.segment) {
    static_cast<void>(parameters);
  }
  [[nodiscard]] Bytes window(Bytes ack, const QueueView& queue, const FlowView& flow) const;
  [[nodiscard]] static FlowCounting counting(const FlowControllerParameters& parameters) {
    return {parameters.gwa.decay, parameters.gwa.interval, policy == GwaPolicy::bandwidth_aware};
  }

 private:
  Bytes segment_;
};

/// Fair share as the controller of one flow. Each of n flows gets a window of floor(B/n) packets, where B is the buffer
/// in packets.
class FairShareController : public FlowControllerHooks {
 public:
  /// true, because flows of both directions share the buffer, so ACKs towards the UE carry the window too
  static constexpr bool both_ways = true;
  static constexpr bool needs_buffer_only = true;

  FairShareController(const FlowControllerParameters& parameters, const FlowControllerStart&)
      : packet_(parameters.fair_share.segment) {}
  [[nodiscard]] Bytes window(Bytes, const QueueView& queue, const FlowView&) const {
    // Restores the full packet sizes first, because amounts count only a share of each packet.
    const auto buffer = static_cast<double>(queue.buffer.count()) / queue.counted_share;
    const Bytes share = fair_share_window(Bytes(std::round(buffer)), packet_, queue.flows);
    return Bytes(std::round(static_cast<double>(share.count()) * queue.counted_share));
  }
  [[nodiscard]] static FlowCounting counting(const FlowControllerParameters& parameters) {
    return {0, parameters.fair_share.idle, false};
  }

 private:
  Bytes packet_;
};

}  // namespace sluice::control
