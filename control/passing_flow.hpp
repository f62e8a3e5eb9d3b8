#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/windowed_extreme.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// One direction of a connection that passes, as a box on its way can tell it: how long data is under way to the
/// receiver and its acknowledgement back, how long the sender takes to use a window, and whether the window is what
/// holds it back. Amounts are positions (StreamPosition). Constant space: with more under way the instants that are
/// remembered lie farther apart, and of what passed between two of them nothing is told unless they are close. No clock
/// inside; thread: its flow's.
class PassingFlow {
 public:
  /// Where the flow stands when it is first looked at; what is under way then is not timed.
  struct Start {
    Bytes acked;
    Bytes sent;  ///< ≥ acked
  };
  /// `further`: how long a window takes to the sender and data back, by the handshake; zero while unknown.
  PassingFlow(Instant now, const Start& start, Duration further);

  /// Data up to `end` passes for the first time.
  void on_data(Instant now, Bytes end);
  /// Data passes that has passed before. What is under way is no longer timed (Karn).
  void on_repetition();

  /// What an acknowledgement tells.
  struct Heard {
    Bytes delivered;        ///< that the receiver has and did not have before
    Duration round_trip{};  ///< of what it acknowledges; zero where that is not known
  };
  /// The receiver acknowledges up to `ack`.
  [[nodiscard]] Heard on_ack(Instant now, Bytes ack);
  /// It acknowledges the same as before, because about `segment` bytes have come out of turn.
  [[nodiscard]] Heard on_duplicate(Bytes segment);
  /// The sender is told of a window up to there. It sends in segments of this size where it has so much, and waits for
  /// room for one (RFC 9293 section 3.8.6.2.1).
  void on_window(Instant now, Bytes edge, Bytes segment);

  /// What has passed and has not come, as far as acknowledgements tell.
  [[nodiscard]] Bytes in_flight() const { return sent_ - acked_ - beyond_; }
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] Bytes acked() const { return acked_; }
  /// From a window that passes to the first data that needs it, at the least; zero while unknown.
  [[nodiscard]] Duration further() const { return further_.known() ? further_.value() : Duration::zero(); }
  /// The window is what limits the sender: within the last half second it has used one as soon as it could.
  [[nodiscard]] bool held_back() const { return held_back_; }
  /// Nothing has come for so long that the sender has nothing to send, or cannot.
  void on_silence() { held_back_ = false; }
  /// How long after a window a sender that waits for it has answered.
  [[nodiscard]] Duration prompt() const;

 private:
  static constexpr std::size_t capacity = 32;
  /// Data up to `end` had passed at `at`.
  struct Mark {
    std::uint32_t end = 0;  ///< low bits of the position
    std::uint32_t at = 0;   ///< low bits of microseconds
  };

  void mark(const Mark& newest);
  void thin_out();
  [[nodiscard]] Duration take_trip(std::uint32_t now, std::uint32_t ack);
  void judge(Instant now, Duration took);

  Bytes sent_;
  Bytes acked_;
  Bytes beyond_;         ///< what has come out of turn
  Bytes repeated_;       ///< up to here nothing is timed
  Bytes edge_{-1};       ///< the furthest that the sender was told of; negative: none yet
  Bytes answers_;        ///< data beyond this answers the window of …
  Instant told_{};       ///< … this instant, while `waiting_`
  Instant prompt_at_{};  ///< when the sender answered at once, the last time
  WindowedExtreme<Duration, std::less<>> further_;
  std::array<Mark, capacity> marks_{};  ///< rising; all before the end of the first has come
  std::uint8_t used_ = 0;
  bool waiting_ = false;
  bool held_back_ = false;
};
static_assert(sizeof(PassingFlow) <= 400, "beside each connection under a law by acknowledgements");

}  // namespace sluice::control
