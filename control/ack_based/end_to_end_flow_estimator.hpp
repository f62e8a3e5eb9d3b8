#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/ack_based/half_window_extreme.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates three values of one direction of a connection that passes through the proxy unsplit. They are the RTT to
/// the receiver, the delay from a receive window to the data that it allows, and whether this window limits sending.
/// Positions count the bytes of the stream (StreamPosition). Memory is constant: with more bytes in flight the recorded
/// times lie farther apart. Reads no clock. Not thread-safe.
class EndToEndFlowEstimator {
 public:
  /// Positions in the stream when the observation starts. No RTT is measured for the bytes in flight at that time.
  struct Start {
    Bytes acked;
    Bytes sent;  ///< ≥ acked
  };
  /// Starts the observation. `control_loop_delay` is the delay from a receive window to the data that it allows,
  /// measured in the handshake; zero while unknown.
  EndToEndFlowEstimator(Instant now, const Start& start, Duration control_loop_delay);

  /// Records that the proxy has forwarded data up to position `end` for the first time.
  void on_data(Instant now, Bytes end);
  /// Records a retransmission. The bytes in flight at this time give no RTT (Karn's algorithm).
  void on_retransmission();

  /// Sample from one ACK.
  struct Acked {
    Bytes delivered;        ///< bytes newly received
    Duration round_trip{};  ///< RTT of the newly acknowledged data; zero if unknown
  };
  /// Records an ACK of all data before position `ack`. Returns how many bytes are newly received, and their RTT.
  [[nodiscard]] Acked on_ack(Instant now, Bytes ack);
  /// Records a duplicate ACK, which shows that the receiver got about `segment` bytes (one full segment) out of order.
  /// Returns these bytes as newly received, without an RTT.
  [[nodiscard]] Acked on_duplicate(Bytes segment);
  /// Records that a receive window with right edge `edge` is forwarded to the sender. The sender sends segments of
  /// `segment` bytes, and waits until a whole one fits in the window (RFC 9293 section 3.8.6.2.1).
  void on_window(Instant now, Bytes edge, Bytes segment);

  /// Returns the bytes that have passed the proxy and that, according to ACKs, the receiver has not received yet.
  [[nodiscard]] Bytes in_flight() const { return sent_ - acked_ - out_of_order_; }
  /// Returns the bytes that the receiver got out of order, beyond a missing segment.
  [[nodiscard]] Bytes out_of_order() const { return out_of_order_; }
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] Bytes acked() const { return acked_; }
  /// Returns the smallest recent delay from forwarding a receive window to the first data that needs this window; zero
  /// while unknown.
  [[nodiscard]] Duration control_loop_delay() const {
    return control_loop_delay_.known() ? control_loop_delay_.value() : Duration::zero();
  }
  /// True if the receive window limits the sender, because the sender uses new windows within response_timeout(). False
  /// once the sender has used them later than that for half a second, or after on_silence().
  [[nodiscard]] bool window_limited() const { return window_limited_; }
  /// Records that the sender has stopped sending, for lack of data or because it cannot send. The receive window then
  /// no longer limits it.
  void on_silence() { window_limited_ = false; }
  /// Returns the longest time from forwarding a receive window to the first data that needs it. If the data comes
  /// later, the sender does not count as limited by the window.
  [[nodiscard]] Duration response_timeout() const;

 private:
  static constexpr std::size_t capacity = 32;
  /// Mark: the data of the flow had passed the proxy up to position `end` at time `at`.
  struct Mark {
    std::uint32_t end = 0;  ///< low 32 bits of the position in the stream
    std::uint32_t at = 0;   ///< low 32 bits of the time in µs
  };

  /// Adds a mark (position and time) for the newest data.
  void mark(const Mark& newest);
  /// Removes every other mark (position and time of sent data) to make space.
  void thin_out();
  /// Returns the RTT of position `ack` (its low 32 bits), zero if unknown. Removes the marks (positions with times)
  /// before that position. `now` has the low 32 bits of the time in µs.
  [[nodiscard]] Duration take_rtt(std::uint32_t now, std::uint32_t ack);
  /// Updates whether the receive window limits the sender. `response_time` is the time from forwarding a window to the
  /// first data that needed it.
  void update_window_limited(Instant now, Duration response_time);

  Bytes sent_;
  Bytes acked_;
  Bytes out_of_order_;  ///< bytes that the receiver got out of order, beyond a missing segment
  /// End of the data in flight at the last retransmission; earlier data gives no RTT (Karn's algorithm).
  Bytes retransmitted_;
  Bytes edge_{-1};  ///< furthest right edge of a receive window that was forwarded to the sender; negative: none yet
  /// Right edge of the receive window before the one that was forwarded at `window_sent_at_`. Data beyond this edge
  /// needs the later window.
  Bytes awaited_edge_;
  /// Time at which a receive window was forwarded that the sender has not used yet. Valid if `waiting_` is true.
  Instant window_sent_at_{};
  Instant window_limited_at_{};  ///< last time at which the sender used a new receive window within response_timeout()
  HalfWindowExtreme<Duration, std::less<>> control_loop_delay_;
  /// Marks (positions with times) in ascending order. Everything before the end of the first one is acknowledged.
  std::array<Mark, capacity> marks_{};
  std::uint8_t used_ = 0;  ///< number of marks
  /// True if the sender has not yet used the receive window that was forwarded at `window_sent_at_`.
  bool waiting_ = false;
  bool window_limited_ = false;
};
static_assert(sizeof(EndToEndFlowEstimator) <= 392, "beside each connection under an ACK-based controller");

}  // namespace sluice::control
