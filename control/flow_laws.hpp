#pragma once

#include <cmath>
#include <optional>

#include "control/ack_regulator.hpp"
#include "control/ack_release.hpp"
#include "control/clamp_window.hpp"
#include "control/fair_share.hpp"
#include "control/gwa.hpp"
#include "control/law_hooks.hpp"
#include "control/law_tables.hpp"
#include "control/queue_view.hpp"
#include "control/window_regulator.hpp"

namespace sluice::control {

/// Parameters of every law of windows, as a policy has them.
struct LawParameters {
  /// B of a UE's radio queue; zero: what the reports say, and 64 KiB where they name none.
  Bytes buffer;
  /// No ACK waits longer than this, whatever its law, > 0. Below the shortest retransmission timeout in use (200 ms),
  /// or what is held would be sent again.
  Duration hold = std::chrono::milliseconds(150);
#define X(name, key, type, text) type name;
  SLUICE_LAW_PARAMETERS(X)
#undef X
};

/// CLAMP: the window agent, fed where the ACKs pass. What an ACK acknowledges has just been received.
///
/// Taking over from another law it begins with the window of its own equilibrium, path and queue. The price, though, is
/// that of a mean queue which remembers the old law's for seconds; believed, it would close the window for a queue that
/// is gone, and that opens again by τ per round trip. So the window stands until the old queue has drained, a second at
/// most, and then the queue as it is stands for its mean until the mean has come down to it.
class ClampLaw : public LawHooks {
 public:
  ClampLaw(const LawParameters& parameters, const LawStart& start);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  [[nodiscard]] Bytes window(Bytes ack, const QueueView& queue, const FlowView& flow) const;
  void seed(Bytes window, const QueueView& queue);

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  enum class Start : std::uint8_t { over, draining, remembering };
  [[nodiscard]] Bytes target(const QueueView& queue) const;
  [[nodiscard]] Duration price(Instant now, const QueueView& queue);

  Bytes segment_;
  Reference target_;  ///< a, b and what a frame is, of the price
  double slope_;
  Bytes frame_;
  Instant draining_until_ = never;
  Start start_ = Start::over;
  ClampWindow window_;
};

/// WRS, WRD and WRB. B is the flow's equal part of the buffer.
template <WindowRegulation form>
class RegulatorLaw : public LawHooks {
 public:
  RegulatorLaw(const LawParameters& parameters, const LawStart& start);
  [[nodiscard]] AckRelease on_queue(const QueueView& queue, const FlowView& flow);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  void on_released(Bytes ack, Bytes window) { regulator_.on_released(ack, window); }
  [[nodiscard]] Bytes window(Bytes ack, const QueueView&, const FlowView&) const { return regulator_.window(ack); }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes segment_;
  WindowRegulator regulator_;
};

/// The Ack Regulator. B is the flow's equal part of the buffer.
class AckTimingLaw : public LawHooks {
 public:
  AckTimingLaw(const LawParameters& parameters, const LawStart& start);
  void on_data(Bytes end) { regulator_.on_data(end); }
  [[nodiscard]] AckRelease on_queue(const QueueView& queue, const FlowView& flow);
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow);
  void on_released(Bytes ack, Bytes /*window*/) { regulator_.on_released(ack); }
  void seed(Bytes /*window*/, const QueueView&) { regulator_.source_runs(); }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Bytes segment_;
  AckRegulator regulator_;
};

/// Generalized Window Advertising. RR takes the flow's own part of the queue for the queue per flow that the paper has.
template <GwaPolicy policy>
class GwaLaw : public LawHooks {
 public:
  GwaLaw(const LawParameters& parameters, const LawStart& start) : segment_(start.segment) {
    static_cast<void>(parameters);
  }
  [[nodiscard]] Bytes window(Bytes ack, const QueueView& queue, const FlowView& flow) const;
  [[nodiscard]] static FlowCounting counting(const LawParameters& parameters) {
    return {parameters.gwa.decay, parameters.gwa.interval, policy == GwaPolicy::bandwidth_aware};
  }

 private:
  Bytes segment_;
};

/// floor(B/n) packets.
class FairShareLaw : public LawHooks {
 public:
  static constexpr bool both_ways = true;  ///< flows count whatever their direction
  static constexpr bool needs_buffer_only = true;

  FairShareLaw(const LawParameters& parameters, const LawStart&) : packet_(parameters.fair_share.segment) {}
  [[nodiscard]] Bytes window(Bytes, const QueueView& queue, const FlowView&) const {
    // Whole packets of the buffer, however much of each is counted.
    const auto buffer = static_cast<double>(queue.buffer.count()) / queue.counted_share;
    const Bytes share = fair_share_window(Bytes(std::round(buffer)), packet_, queue.flows);
    return Bytes(std::round(static_cast<double>(share.count()) * queue.counted_share));
  }
  [[nodiscard]] static FlowCounting counting(const LawParameters& parameters) {
    return {0, parameters.fair_share.idle, false};
  }

 private:
  Bytes packet_;
};

}  // namespace sluice::control
