#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "control/ack_based/half_window_extreme.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Limits the bytes that all uploads of one UE have in flight, so that the queue in the UE's modem causes a short
/// delay. Unlimited uploads fill that queue, and the ACKs of the UE's downloads wait in it for seconds. The window is
/// computed as follows:
///
///     rate · (base delay + target + downlink wait) + two segments
///
/// - rate: the highest rate of the uploads in the last one to two seconds.
/// - base delay: the shortest round trip (UploadRoundTrip) of the last 10 to 20 s.
/// - target: the intended wait in the modem's queue. It is 50 ms, or 0.35 of the base delay if that is longer.
/// - downlink wait: the time that packets to the UE wait for the downlink, because a larger window takes as long to
///   reach the UE.
///
/// Until the rate stops growing, the window is 2.5 times as large (startup). Every 10 s the window is smaller for a
/// moment, so that the modem's queue empties (a drain). The base delay is then measured again. All UEs are drained at
/// the same instants, because they may share a queue.
///
/// The limit is useful only if it shortens the queue. It is withdrawn if eight successive round trips within at least
/// 3 s exceed the base delay by more than three targets. The queue is then that of other traffic, or the path has
/// become longer, or the UE has little to send. The base delay is measured again after 10 s, and after twice as long
/// each further time.
///
/// Memory and work per call are constant. Reads no clock. Not thread-safe.
class UploadWindow {
 public:
  /// Begins with startup. `segment` is the size of a full segment of the UE, > 0. `base_delay` is the round trip of a
  /// handshake, > 0.
  UploadWindow(Instant now, Bytes segment, Duration base_delay);

  /// Counts `bytes` of payload that have arrived from the UE, retransmissions included.
  void on_received(Instant now, Bytes bytes);
  /// Records the round trip of one upload, without the downlink wait. It is that of the path and the modem's queue if
  /// the window limits the upload, and longer otherwise.
  void on_round_trip(Instant now, Duration round_trip);
  /// Records the round trip of the handshake of another upload.
  void on_handshake(Instant now, Duration round_trip) { base_delay_.add(now, round_trip, base_delay_memory); }
  /// Records that an upload still has more than twice its share of the window in flight, which it was allowed before.
  /// The queue is then that of the uploads, so it is no reason to withdraw the limit.
  void on_excess() { long_rounds_ = 0; }
  /// Returns the number of bytes that all uploads may have in flight together. Returns nothing while the rate is
  /// unknown, and while the limit is withdrawn.
  [[nodiscard]] std::optional<Bytes> window(Instant now, Duration downlink_wait);
  /// True if the window causes a wait of at most two targets in the modem's queue. The smallest window of a slow uplink
  /// causes a longer one.
  [[nodiscard]] bool keeps_queue_short() const;
  /// Returns the highest rate of the last one to two seconds; zero while unknown.
  [[nodiscard]] Rate rate() const { return rate_.known() ? Rate::bytes_per_second(rate_.value()) : Rate(); }
  /// Returns the shortest round trip of the last 10 to 20 s.
  [[nodiscard]] Duration base_delay() const { return base_delay_.value(); }

 private:
  static constexpr Duration base_delay_memory = std::chrono::seconds(10);

  void check_startup(double rate);
  void begin_drain(Instant now);
  void withdraw(Instant now);
  [[nodiscard]] Duration target() const;
  [[nodiscard]] Duration min_window_time() const;
  [[nodiscard]] double bytes_for(Duration downlink_wait) const;

  double segment_;                                       ///< bytes of a full segment of the UE
  HalfWindowExtreme<double, std::greater<>> rate_;       ///< rates in bytes/s
  HalfWindowExtreme<Duration, std::less<>> base_delay_;  ///< round trips
  double startup_rate_ = 0;                              ///< highest rate of the startup, in bytes/s
  Bytes received_;                                       ///< bytes received in the present interval of the rate
  Instant interval_began_;
  Instant next_drain_;
  Instant drain_ends_{};
  Instant withdrawn_until_{};
  Instant long_since_{};               ///< start of the present series of long round trips
  Duration pause_;                     ///< length of the next withdrawal of the limit
  std::uint8_t long_rounds_ = 0;       ///< number of successive long round trips
  std::uint8_t steady_intervals_ = 0;  ///< number of successive intervals of the startup without a higher rate
  bool in_startup_ = true;
  bool withdrawn_ = false;
  bool replaces_base_delay_ = false;  ///< true if the next round trip replaces the base delay
};

/// Measures the round trips of one upload whose receive window is limited. A round trip is the time from a larger
/// window to the first byte beyond the earlier one. It needs no timestamps. Reads no clock. Not thread-safe.
class UploadRoundTrip {
 public:
  /// Counts `bytes` that have arrived in order. Returns the round trip if they end its measurement.
  [[nodiscard]] std::optional<Duration> on_received(Instant now, Bytes bytes);
  /// Returns the number of bytes that have arrived in order.
  [[nodiscard]] Bytes received() const { return Bytes(received_); }
  /// Begins a measurement if none runs. From `now` on the UE may send more than `unused` bytes beyond the received
  /// ones.
  void on_larger_window(Instant now, Bytes unused);
  /// Ends the measurement without a result, because a lost segment would lengthen it.
  void cancel() { measures_ = false; }

 private:
  std::int64_t received_ = 0;  ///< bytes received in order
  std::int64_t edge_ = 0;      ///< value of `received_` beyond which data needs the larger window
  Instant raised_at_{};        ///< time of the larger window
  bool measures_ = false;
};

}  // namespace sluice::control
