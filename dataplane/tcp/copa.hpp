#pragma once

#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/tcp/windowed_min_max.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Copa (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018; source of
/// the section numbers). Copa changes cwnd so that the rate approaches 1/(delta dq) packets per second. Here dq is the
/// queueing delay, and 1/delta is the number of packets that the flow aims to keep in the queue. A flow thus keeps few
/// packets in the queue and empties it every five round trips. If the queue does not empty, other traffic fills it, and
/// Copa reduces delta to compete.
///
/// The velocity is the factor of each change of cwnd. Two differences from the paper limit the effect of a velocity
/// that grew over many rounds before the path changed. The velocity resets as soon as cwnd must change direction,
/// instead of at the end of a round. No ACK changes cwnd by more bytes than it acknowledges. A third difference: a
/// timeout returns to slow start.
class Copa {
 public:
  /// Starts a connection.
  void start(const ModelStart& start);
  /// Continues from a measured `cwnd`, in bytes, and smoothed RTT, without slow start.
  void seed(std::uint32_t cwnd, Duration srtt);

  /// Processes an ACK; returns the new cwnd in bytes (section 2.1 of the Copa paper).
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd);
  /// Handles a retransmission timeout.
  void on_timeout(std::uint32_t cwnd);
  /// Handles a timeout or fast recovery that turned out to be spurious.
  void on_undo();
  /// Handles the first transmission after a time without data in flight. Returns cwnd unchanged, because pacing
  /// prevents a burst. The other models need `app_limited`; Copa does not use it.
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd);

  /// Returns the pacing rate, which is twice window / RTTstanding, where RTTstanding is the minimum RTT of the last
  /// half round trip. At this rate cwnd limits the sender, not the pacing, and no burst arises (section 2.1 of the Copa
  /// paper).
  [[nodiscard]] Rate pacing_rate() const { return pacing_rate_; }
  [[nodiscard]] static bool limits_itself() { return false; }

  [[nodiscard]] bool slow_start() const { return slow_start_; }
  /// True if other traffic fills the queue, so Copa is in competitive mode (section 2.2 of the Copa paper).
  [[nodiscard]] bool competitive() const { return competitive_; }
  /// Returns 1/delta: the packets that the flow aims to keep in the queue.
  [[nodiscard]] double packets_in_queue() const { return inverse_delta_; }
  [[nodiscard]] double velocity() const { return velocity_; }
  /// Returns RTTmin, the minimum RTT of the last ten seconds. standing_rtt() returns RTTstanding, the minimum RTT of
  /// the last half round trip. Both are zero before the first sample.
  [[nodiscard]] Duration min_rtt() const { return min_rtt_.value(); }
  [[nodiscard]] Duration standing_rtt() const { return standing_.value(); }

 private:
  /// Initial value of 1/delta, because delta = 0.5 (section 2.1 of the Copa paper).
  static constexpr double default_inverse_delta = 2;
  static constexpr double pacing_factor = 2;
  static constexpr std::uint32_t min_segments = 2;  ///< smallest window in segments

  enum class Direction : std::uint8_t { none, up, down };

  void measure(const ModelAck& ack);
  void judge_mode(const ModelAck& ack);
  void adapt_delta();
  void update_velocity(std::uint32_t cwnd);
  void set_direction(Direction direction);
  [[nodiscard]] bool below_target(std::uint32_t cwnd, std::uint32_t mss) const;
  [[nodiscard]] std::uint32_t move(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] Duration queueing() const { return standing_.value() - min_rtt_.value(); }

  WindowedMinimum min_rtt_;   ///< minimum RTT of the last ten seconds (RTTmin)
  WindowedMinimum standing_;  ///< minimum RTT of the last half round trip (RTTstanding)
  WindowedMaximum largest_;   ///< maximum RTT of the last four round trips (RTTmax)
  RoundCount rounds_;
  Rate pacing_rate_;
  /// Last time at which the queue was nearly empty: queueing delay at most 10 % of the RTT's range.
  Instant empty_at_{};
  double inverse_delta_ = default_inverse_delta;
  /// Value of 1/delta before its last change or the last timeout; restored if the loss was spurious.
  double saved_inverse_delta_ = default_inverse_delta;
  double velocity_ = 1;
  double fraction_ = 0;            ///< growth of cwnd of less than a byte, which is carried over to the next ACK
  std::uint32_t round_cwnd_ = 0;   ///< congestion window in bytes at the start of this round
  std::uint32_t same_rounds_ = 0;  ///< consecutive rounds in which cwnd kept its direction
  Direction direction_ = Direction::none;
  bool slow_start_ = true;
  bool saved_slow_start_ = true;
  bool competitive_ = false;
  bool loss_in_round_ = false;
  bool begun_ = false;  ///< true once empty_at_ is set
};

}  // namespace sluice::tcp
