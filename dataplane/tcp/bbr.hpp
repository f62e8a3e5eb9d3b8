#pragma once

#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (sections cited are its), with what Linux's
/// tcp_bbr.c has corrected since. A model of the path, the largest delivery rate of ten rounds and the least round-trip
/// time of ten seconds, decides how fast segments leave and how many may be in flight; a loss by itself does not.
///
/// Departures: no long-term sampling for policers, no allowance for bunched acknowledgements beyond three bursts, no
/// random draw but the caller's. Marks (RFC 3168) are not heeded, as in Linux.
class Bbr {
 public:
  enum class Mode : std::uint8_t { startup, drain, probe_bandwidth, probe_rtt };
  /// A connection begins. Where in the cycle of gains bandwidth probing begins differs by the draw (section 4.3.4.2).
  void start(const ModelStart& start);
  /// Goes on from a measured window, as if the path were known.
  void seed(std::uint32_t cwnd, Duration srtt);

  /// Takes an acknowledgement; returns the window (section 4.2.3).
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd);
  /// The retransmission timer expired, with this window.
  void on_timeout(std::uint32_t cwnd);
  /// … and that or the last fast recovery was for nothing.
  void on_undo();
  /// Something is sent after nothing was in flight; `app_limited`: because there was nothing to send (section 4.3.4.4).
  /// Returns the window.
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd);

  [[nodiscard]] Rate pacing_rate() const { return pacing_rate_; }
  /// The flow keeps itself small for a while, so what it delivers does not tell of the path (section 4.3.5).
  [[nodiscard]] bool limits_itself() const { return mode_ == Mode::probe_rtt; }

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] Rate bandwidth() const { return Rate::bytes_per_second(bandwidth_.value()); }
  /// Duration::max() before the first sample.
  [[nodiscard]] Duration least_rtt() const { return least_rtt_; }

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
  void update_least_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void probe_rtt(const ModelAck& ack, std::uint32_t& cwnd);
  void leave_probe_rtt(Instant now, std::uint32_t& cwnd);
  void enter_probe_bandwidth(Instant now);
  void save(std::uint32_t cwnd);
  void set_pacing_rate(double gain);
  [[nodiscard]] bool follow_repair(const ModelAck& ack, std::uint32_t& cwnd);
  [[nodiscard]] std::uint32_t window(const ModelAck& ack, std::uint32_t cwnd);

  RoundMaximum bandwidth_;  ///< BBR.BtlBw, bytes per second
  RoundCount rounds_;
  Duration least_rtt_ = Duration::max();  ///< BBR.RTprop
  Instant least_rtt_at_{};
  Instant probe_rtt_done_ = never;  ///< when the window has been small for long enough
  Instant phase_began_{};
  Rate pacing_rate_;
  Rate full_bandwidth_;           ///< bandwidth at the last round that grew by a quarter
  std::uint32_t prior_cwnd_ = 0;  ///< the window to go back to
  std::uint32_t initial_cwnd_ = 0;
  std::uint32_t draw_ = 0;
  Mode mode_ = Mode::startup;
  Repair repair_ = Repair::none;
  std::uint8_t phase_ = 0;        ///< of the cycle of pacing gains
  std::uint8_t full_rounds_ = 0;  ///< rounds in which the bandwidth did not grow
  bool full_pipe_ = false;
  bool conserve_ = false;  ///< send no more than is delivered
  bool idle_restart_ = false;
  bool rtt_seen_ = false;
  bool probe_rtt_round_done_ = false;
  bool seeded_ = false;  ///< the clock was not known then: the next acknowledgement brings it
};

}  // namespace sluice::tcp
