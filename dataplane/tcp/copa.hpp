#pragma once

#include <cstdint>

#include "dataplane/tcp/model_ack.hpp"
#include "dataplane/tcp/round_count.hpp"
#include "dataplane/tcp/windowed_extreme.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Copa (Arun and Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018; sections
/// cited are its). The window moves towards a rate of 1/(delta dq) packets per second, where dq is what the queue adds
/// to the least round-trip time. So a flow keeps few packets in the queue and empties it every five round trips. Where
/// that does not happen somebody else fills the queue, and delta falls until Copa holds its own.
///
/// Departures: the velocity is one again as soon as the window must go the other way, not first when the round ends,
/// and no acknowledgement moves the window by more than it acknowledged. Both bound what a velocity that has grown over
/// many rounds does after the path has changed. A timeout leads back to slow start.
class Copa {
 public:
  /// A connection begins.
  void start(const ModelStart& start);
  /// Goes on from a measured window, as if the path were known.
  void seed(std::uint32_t cwnd, Duration srtt);

  /// Takes an acknowledgement; returns the window (section 2.1).
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd);
  /// The retransmission timer expired, with this window.
  void on_timeout(std::uint32_t cwnd);
  /// … and that or the last fast recovery was for nothing.
  void on_undo();
  /// Something is sent after nothing was in flight. Returns the window: it stays, since it is paced.
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd);

  /// Twice what the window amounts to: it is the window that limits, and no burst arises (section 2.1).
  [[nodiscard]] Rate pacing_rate() const { return pacing_rate_; }
  [[nodiscard]] static bool limits_itself() { return false; }

  [[nodiscard]] bool slow_start() const { return slow_start_; }
  /// Somebody else fills the queue (section 2.2).
  [[nodiscard]] bool competitive() const { return competitive_; }
  /// 1/delta: packets that the flow means to keep in the queue.
  [[nodiscard]] double packets_in_queue() const { return inverse_delta_; }
  [[nodiscard]] double velocity() const { return velocity_; }
  /// RTTmin and RTTstanding; zero before the first sample.
  [[nodiscard]] Duration least_rtt() const { return least_.value(); }
  [[nodiscard]] Duration standing_rtt() const { return standing_.value(); }

 private:
  static constexpr double default_inverse_delta = 2;  ///< delta = 0.5 (section 2.1)
  static constexpr double pacing_factor = 2;
  static constexpr std::uint32_t least_segments = 2;  ///< of the window

  enum class Direction : std::uint8_t { none, up, down };

  void measure(const ModelAck& ack);
  void judge_mode(const ModelAck& ack);
  void adapt_delta();
  void update_velocity(std::uint32_t cwnd);
  void turn(Direction direction);
  [[nodiscard]] bool below_target(std::uint32_t cwnd, std::uint32_t mss) const;
  [[nodiscard]] std::uint32_t move(const ModelAck& ack, std::uint32_t cwnd);
  [[nodiscard]] Duration queueing() const { return standing_.value() - least_.value(); }

  WindowedMinimum least_;     ///< RTTmin
  WindowedMinimum standing_;  ///< RTTstanding
  WindowedMaximum largest_;   ///< RTTmax
  RoundCount rounds_;
  Rate pacing_rate_;
  Instant empty_at_{};  ///< when the queue was nearly empty last
  double inverse_delta_ = default_inverse_delta;
  double saved_inverse_delta_ = default_inverse_delta;  ///< before the last reduction or timeout
  double velocity_ = 1;
  double fraction_ = 0;            ///< bytes that the window is to grow by, of less than one
  std::uint32_t round_cwnd_ = 0;   ///< the window when this round began
  std::uint32_t same_rounds_ = 0;  ///< rounds in a row in which the window went the same way
  Direction direction_ = Direction::none;
  bool slow_start_ = true;
  bool saved_slow_start_ = true;
  bool competitive_ = false;
  bool loss_in_round_ = false;
  bool begun_ = false;  ///< the clock of empty_at_ is known
};

}  // namespace sluice::tcp
