#pragma once

#include <cstdint>

#include "dataplane/tcp/connection_core.hpp"
#include "dataplane/tcp/rtt.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Timer that is armed. From `reorder` on, data is outstanding, and each timer acts if the one before it was not
/// sufficient (RFC 8985 section 8).
enum class Timer : std::uint8_t { none, persist, time_wait, reorder, probe, retransmit };

/// Timers of a connection and the round-trip times from which they are computed (RFC 6298, RFC 8985 section 7.2).
///
/// Invariants: besides the delayed ACK, at most one timer is armed at a time; if none is armed, the deadline is
/// `never`. The endpoint's owner is not informed if a deadline moves, so it may call Endpoint::on_timer() too early.
/// The retransmission timeout stays doubled until an ACK or a SACK block of a segment that was sent once ends the
/// backoff.
class Timers : public ConnectionCore {
 public:
  /// Returns the smoothed round-trip time; zero before the first measurement.
  [[nodiscard]] Duration srtt() const { return rtt_.srtt(); }
  /// Returns the recent minimum of the round-trip time, an estimate of the path without queues; zero before the first
  /// measurement.
  [[nodiscard]] Duration min_rtt() const { return rtt_.least(); }
  /// Returns the retransmission timeout including its current backoff.
  [[nodiscard]] Duration rto() const;

 protected:
  /// Resets everything for a new connection.
  void reset() {
    bits_ = Bits();
    timer_deadline_ = never;
    ack_deadline_ = never;
    rtt_ = {};
  }

  [[nodiscard]] Timer armed() const { return bits_.timer; }
  [[nodiscard]] Instant timer_deadline() const { return timer_deadline_; }
  /// Returns the deadline of the timer or of the delayed ACK, whichever is earlier.
  [[nodiscard]] Instant earliest_deadline() const { return lesser(timer_deadline_, ack_deadline_); }
  /// Arms `timer`, which replaces the timer that was armed.
  void arm(Timer timer, Instant deadline) {
    bits_.timer = timer;
    timer_deadline_ = deadline;
  }
  /// Disarms `timer` if it is the one that is armed.
  void disarm(Timer timer) {
    if (bits_.timer == timer) arm(Timer::none, never);
  }
  /// Enters TIME-WAIT and arms its timer.
  void enter_time_wait(Instant now) {
    set_state(State::time_wait);
    arm(Timer::time_wait, now + config().time_wait);
  }

  /// Returns the deadline of the delayed ACK.
  [[nodiscard]] Instant ack_deadline() const { return ack_deadline_; }
  void set_ack_deadline(Instant deadline) { ack_deadline_ = deadline; }

  /// Returns the number of doublings of the RTO or persist timer.
  [[nodiscard]] unsigned backoff() const { return bits_.backoff; }
  void back_off() {
    if (bits_.backoff < backoff_limit) ++bits_.backoff;
  }
  void end_backoff() { bits_.backoff = 0; }

  [[nodiscard]] bool has_rtt() const { return rtt_.has_sample(); }
  /// Takes an RTT sample of a segment that was sent once (RttEstimator::sample()).
  void sample_rtt(Duration rtt, SeqNum snd_una, SeqNum snd_nxt) {
    rtt_.sample(rtt, snd_una, snd_nxt, config().min_rto);
  }
  /// Returns the timeout of a tail loss probe.
  [[nodiscard]] Duration probe_timeout() const { return rtt_.probe_timeout(); }

 private:
  static constexpr std::uint8_t backoff_limit = 16;  ///< number of RTO doublings beyond which timeout() does not grow

  struct Bits {
    Timer timer : 3 = Timer::none;
    std::uint8_t backoff : 5 = 0;
  };

  Instant timer_deadline_ = never;
  Instant ack_deadline_ = never;
  [[no_unique_address]] RttEstimator rtt_;
  Bits bits_;
};

}  // namespace sluice::tcp
