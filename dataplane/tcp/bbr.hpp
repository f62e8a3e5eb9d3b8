#pragma once

#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (source of the section numbers), with later
/// corrections of Linux' tcp_bbr.c. The model consists of the maximum delivery rate of ten rounds and the minimum RTT
/// of ten seconds. Both determine the pacing rate and the bytes in flight. A loss alone does not change the model.
///
/// Differences from Linux: no long-term sampling for policers, and no random source except the caller's seed. For ACKs
/// that arrive together, only three bursts are added to the bytes in flight, and no measured excess (extra_acked). ECN
/// marks (RFC 3168) are ignored, as in Linux.
class Bbr {
 public:
  enum class Mode : std::uint8_t { startup, drain, probe_bandwidth, probe_rtt };
  /// Starts a connection. `start.draw` determines where in the cycle of pacing gains ProbeBW begins (section 4.3.4.2 of
  /// the BBR draft).
  void start(const ModelStart& start);
  /// Starts the model from a measured `cwnd`, in bytes, and smoothed RTT. Their quotient counts as the bandwidth, so
  /// there is no Startup phase.
  void seed(std::uint32_t cwnd, Duration srtt);

  /// Processes an ACK; returns the new cwnd in bytes (section 4.2.3 of the BBR draft).
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd);
  /// Handles a retransmission timeout. `cwnd` is the congestion window in bytes before the timeout.
  void on_timeout(std::uint32_t cwnd);
  /// Handles a timeout or fast recovery that turned out to be spurious.
  void on_undo();
  /// Handles the first transmission after a time with nothing in flight; returns the new cwnd. `app_limited` is true if
  /// the application had no data to send (section 4.3.4.4 of the BBR draft).
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd);

  [[nodiscard]] Rate pacing_rate() const { return pacing_rate_; }
  /// True while the model keeps few bytes in flight in order to measure the minimum RTT (ProbeRTT, section 4.3.5 of the
  /// BBR draft). The delivery rate then does not show the rate of the path.
  [[nodiscard]] bool limits_itself() const { return mode_ == Mode::probe_rtt; }

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] Rate bandwidth() const { return Rate::bytes_per_second(bandwidth_.value()); }
  /// Returns the minimum RTT; Duration::max() before the first sample.
  [[nodiscard]] Duration min_rtt() const { return min_rtt_; }

 private:
  [[nodiscard]] double pacing_gain() const;
  [[nodiscard]] double window_gain() const;
  [[nodiscard]] std::uint32_t target(double gain, std::uint32_t mss) const;

  void update_bandwidth(const ModelAck& ack);
  void update_cycle(const ModelAck& ack);
  [[nodiscard]] bool phase_is_over(const ModelAck& ack) const;
  void next_phase(Instant now);
  void check_full_pipe(const ModelAck& ack);
  void check_drain(const ModelAck& ack);
  void update_min_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void probe_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void leave_probe_rtt(Instant now, std::uint32_t& cwnd);
  void enter_probe_bandwidth(Instant now);
  void save(std::uint32_t cwnd);
  void set_pacing_rate(double gain);
  [[nodiscard]] bool follow_recovery(const ModelAck& ack, std::uint32_t& cwnd);
  [[nodiscard]] std::uint32_t window(const ModelAck& ack, std::uint32_t cwnd);

  RoundMaximum bandwidth_;  ///< maximum delivery rate in bytes per second (BBR.BtlBw)
  RoundCount rounds_;
  Duration min_rtt_ = Duration::max();  ///< minimum RTT (BBR.RTprop)
  Instant min_rtt_at_{};
  Instant probe_rtt_done_ = never;  ///< end of the part of ProbeRTT in which cwnd is small
  Instant phase_began_{};
  Rate pacing_rate_;
  /// Value of the maximum delivery rate when it last reached 1.25 times the value stored here before.
  Rate full_bandwidth_;
  std::uint32_t prior_cwnd_ = 0;  ///< cwnd in bytes to restore after recovery or ProbeRTT
  std::uint32_t initial_cwnd_ = 0;
  std::uint32_t draw_ = 0;
  Mode mode_ = Mode::startup;
  RecoveryKind recovery_ = RecoveryKind::none;
  std::uint8_t phase_ = 0;  ///< index of the current phase in the cycle of pacing gains
  /// Consecutive rounds in which the maximum delivery rate stayed below 1.25 times full_bandwidth_.
  std::uint8_t full_rounds_ = 0;
  bool full_pipe_ = false;
  bool conserve_ = false;  ///< true: packet conservation, so that no more bytes are sent than are delivered
  bool idle_restart_ = false;
  bool rtt_seen_ = false;
  bool probe_rtt_round_done_ = false;
  /// True after seed(), until the next ACK. That ACK sets the start times of the minimum RTT and of the phase, because
  /// seed() has no time argument.
  bool seeded_ = false;
};

}  // namespace sluice::tcp
