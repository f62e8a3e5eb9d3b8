#pragma once

#include <cstdint>

#include "dataplane/tcp/bbr3_loss_bounds.hpp"
#include "dataplane/tcp/bbr3_model.hpp"
#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// BBR version 3: draft-ietf-ccwg-bbr-06 (source of the section numbers). A model of the path determines pacing rate
/// and bytes in flight. Compared with version 1, it probes less often and leaves headroom to other flows. It backs off
/// if more than 2 % of the bytes in flight are lost.
///
/// Differences from the draft: no random source except the caller's seed. ECN marks are ignored, which the draft leaves
/// open (section 3.7). The bytes in flight at transmission are known only for segments sent once (DeliveryRate).
class Bbr3 {
 public:
  /// Phases of BBR in the order in which they follow each other; down, cruise, refill and up form ProbeBW.
  enum class Mode : std::uint8_t { startup, drain, down, cruise, refill, up, probe_rtt };

  static constexpr float tolerated_loss = 0.02F;  ///< share of the bytes in flight that may be lost (BBR.LossThresh)

  /// Starts a connection (draft-ietf-ccwg-bbr-06 section 5.2.1). `start.draw` is the seed of the random waits between
  /// bandwidth probes.
  void start(const ModelStart& start);
  /// Starts the model from a measured `cwnd`, in bytes, and smoothed RTT. Their quotient counts as the bandwidth, so
  /// there is no Startup phase.
  void seed(std::uint32_t cwnd, Duration srtt);

  /// Processes an ACK; returns the new cwnd in bytes (draft-ietf-ccwg-bbr-06 section 5.2.3).
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd);
  /// Handles a retransmission timeout (draft-ietf-ccwg-bbr-06 section 5.6.4.4). `cwnd` is the congestion window in
  /// bytes before the timeout.
  void on_timeout(std::uint32_t cwnd);
  /// Handles a timeout or fast recovery that turned out to be spurious (draft-ietf-ccwg-bbr-06 section 5.5.11.2).
  void on_undo();
  /// Handles the first transmission after a time with nothing in flight; returns the new cwnd. `app_limited` is true if
  /// the application had no data to send (draft-ietf-ccwg-bbr-06 section 5.4.1).
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd);

  [[nodiscard]] Rate pacing_rate() const { return pacing_rate_; }
  /// True while the model keeps few bytes in flight in order to measure the minimum RTT (ProbeRTT,
  /// draft-ietf-ccwg-bbr-06 section 5.3.4.3). The delivery rate then does not show the rate of the path.
  [[nodiscard]] bool limits_itself() const { return mode_ == Mode::probe_rtt; }

  [[nodiscard]] Mode mode() const { return mode_; }
  /// Returns BBR.bw: the maximum bandwidth, limited by the short-term bound that losses have set.
  [[nodiscard]] Rate bandwidth() const { return std::min(max_bandwidth_.value(), bounds_.bandwidth_shortterm()); }
  [[nodiscard]] Rate max_bandwidth() const { return max_bandwidth_.value(); }
  /// Returns the minimum RTT; MinRttFilter::unknown before the first sample.
  [[nodiscard]] Duration min_rtt() const { return min_rtt_.value(); }
  [[nodiscard]] const LossBounds& bounds() const { return bounds_; }

 private:
  /// Phase of the bandwidth probe to which the current delivery-rate samples belong (BBR.ack_phase,
  /// draft-ietf-ccwg-bbr-06 section 5.3.3.9). The values stand for ACKS_INIT, ACKS_REFILLING, ACKS_PROBE_STARTING,
  /// ACKS_PROBE_FEEDBACK and ACKS_PROBE_STOPPING, in this order.
  enum class Feedback : std::uint8_t { none, refilling, starting, coming, stopping };
  /// Phase to which on_undo() returns if the loss that ended this phase was spurious.
  enum class Left : std::uint8_t { nothing, startup, up };

  static constexpr double startup_gain = 2.77;      ///< pacing gain of Startup (BBR.StartupPacingGain)
  static constexpr double probe_rtt_gain = 0.5;     ///< window gain of ProbeRTT (BBR.ProbeRTTCwndGain)
  static constexpr double pacing_margin = 0.99;     ///< share of the bandwidth used (1 - BBR.PacingMarginPercent / 100)
  static constexpr std::uint32_t min_segments = 4;  ///< BBR.MinPipeCwnd, smallest window in segments

  // --- bbr3.cpp: order of steps per ACK; pacing rate and window ---
  void record_window_use(const ModelAck& ack, std::uint32_t cwnd);
  void follow_recovery(const ModelAck& ack, std::uint32_t& cwnd);
  void update_model(const ModelAck& ack, std::uint32_t& cwnd);
  [[nodiscard]] static double pacing_gain(Mode mode);
  [[nodiscard]] static double window_gain(Mode mode);
  void save_cwnd(std::uint32_t cwnd);
  void save_state(std::uint32_t cwnd);
  void set_pacing_rate(double gain);
  [[nodiscard]] std::uint32_t window(const ModelAck& ack, std::uint32_t cwnd) const;
  [[nodiscard]] std::uint32_t window_cap(std::uint32_t mss) const;
  [[nodiscard]] double multiple(Rate bandwidth, double gain) const;
  [[nodiscard]] double with_budget(double bytes, std::uint32_t mss) const;
  [[nodiscard]] double inflight(Rate bandwidth, double gain, std::uint32_t mss) const {
    return with_budget(multiple(bandwidth, gain), mss);
  }
  [[nodiscard]] std::uint32_t target_inflight(std::uint32_t cwnd) const;

  // --- bbr3_startup_drain_probe_rtt.cpp: Startup, Drain and ProbeRTT ---
  void check_full_pipe(const ModelAck& ack);
  void check_startup(const ModelAck& ack);
  void check_drain(const ModelAck& ack);
  void check_probe_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void probe_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void leave_probe_rtt(Instant now, std::uint32_t delivered, std::uint32_t& cwnd);
  [[nodiscard]] double probe_rtt_window(std::uint32_t mss) const;

  // --- bbr3_probe_bw.cpp: ProbeBW and its long-term bound ---
  [[nodiscard]] bool in_probe_bandwidth() const { return mode_ >= Mode::down && mode_ <= Mode::up; }
  [[nodiscard]] bool probing() const { return mode_ == Mode::startup || mode_ == Mode::refill || mode_ == Mode::up; }
  void begin_down(Instant now, std::uint32_t delivered);
  void begin_refill(std::uint32_t delivered);
  void begin_up(const ModelAck& ack, std::uint32_t cwnd);
  void update_cycle(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] bool adapt_long_term(const ModelAck& ack, std::uint32_t cwnd);
  void handle_losses(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] bool time_to_probe(const ModelAck& ack, std::uint32_t cwnd) const;
  [[nodiscard]] bool time_to_cruise(const ModelAck& ack) const;
  [[nodiscard]] bool time_to_go_down(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] bool limited_by_longterm(std::uint32_t cwnd) const;
  void steepen_longterm(std::uint32_t cwnd, std::uint32_t mss);
  void probe_longterm_upward(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] std::uint32_t draw();

  CycleMaximum max_bandwidth_;
  MinRttFilter min_rtt_;
  AckAggregation aggregation_;
  LossBounds bounds_;
  FullPipe full_pipe_;
  RoundCount rounds_;
  Rate pacing_rate_;
  Instant cycle_began_{};
  Duration probe_wait_{};  ///< longest time from the beginning of a cycle of bandwidth probing to the next probe
  Instant probe_rtt_done_ = never;  ///< end of the part of ProbeRTT in which cwnd is small
  std::uint32_t delivered_ = 0;     ///< total of delivered bytes (DeliveryRate::delivered()) after the last ACK
  std::uint32_t rounds_since_up_ = 0;
  std::uint32_t drain_round_ = 0;     ///< number of the round trip in which Drain began
  std::uint32_t recovery_round_ = 0;  ///< number of the round trip in which fast recovery began
  std::uint32_t prior_cwnd_ = 0;      ///< cwnd in bytes to restore after recovery or ProbeRTT
  std::uint32_t initial_cwnd_ = 0;
  /// Bytes to be acknowledged in ProbeBW_UP until the long-term bound of the bytes in flight rises by one segment.
  std::uint32_t acked_per_step_ = 0;
  std::uint32_t up_acked_ = 0;  ///< bytes acknowledged since the long-term bound of the bytes in flight last rose
  /// Number of separate losses (contiguous runs of lost bytes) in the current round trip.
  std::uint32_t lost_runs_ = 0;
  std::uint32_t draw_ = 0;
  Mode mode_ = Mode::startup;
  RecoveryKind recovery_ = RecoveryKind::none;
  Feedback feedback_ = Feedback::none;
  Left left_ = Left::nothing;
  /// Number of rounds of ProbeBW_UP so far. The long-term bound of the bytes in flight rises faster in each of them.
  std::uint8_t up_rounds_ = 0;
  /// True once the pipe was found full (BBR.full_bw_reached): the delivery rate has stopped growing, or Startup has
  /// ended because of losses.
  bool was_full_ = false;
  bool probe_sample_ = false;  ///< true if delivery-rate samples belong to a bandwidth probe (BBR.is_bw_probe_sample)
  /// True if more than 2 % of the bytes in flight were lost in the last bandwidth probe (BBR.prev_probe_too_high).
  bool probe_too_high_ = false;
  /// True if the last bandwidth probe ended because the bytes in flight reached their long-term bound
  /// (BBR.prev_probe_precautionary).
  bool precautionary_ = false;
  bool window_full_ = false;      ///< true if the whole cwnd was in flight at some time in this round trip
  bool window_was_full_ = false;  ///< true if the whole cwnd was in flight at some time in the last round trip
  bool idle_restart_ = false;
  bool rtt_seen_ = false;
  bool probe_rtt_round_done_ = false;
  /// True after seed(), until the next ACK. That ACK sets the start times of the minimum RTT and of the probing cycle,
  /// because seed() has no time argument.
  bool seeded_ = false;
};

}  // namespace sluice::tcp
