#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Smallest window that keeps the downlink busy while the UE uploads. An upload fills the queue of the UE's modem, and
/// ACKs wait in it. A round trip then does not show how much of the delay is the downlink's queue. The delivery rate
/// does: it grows with the window while the downlink is idle at times, and not any more once the downlink is busy.
///
/// The rate is compared per round. In a round all bytes that were in flight at its start are delivered, so its length
/// is a round trip. A rate below that of the link shows that the link was idle. The window then rises to the bytes that
/// the link carries in such a round trip, and two rounds later the rate is compared again:
///
/// - A higher rate confirms that the link was idle, so the window is raised again.
/// - An equal rate shows that the link was busy. The raise is withdrawn, and the rate of the link counts as lower.
/// - A lower rate shows neither, because a longer window lowers no rate. The ACKs wait for longer than before, so the
///   window is raised again.
///
/// While the rate is that of the link, the window slowly falls, because data that waits in the downlink's queue cannot
/// be seen. If the UE's timestamps show the delay of ACKs, a queue of the downlink can be seen. While all data of a
/// round has waited in it for longer than intended, the window falls by the data that has waited. A wait that is longer
/// than the bytes in flight can cause is not the downlink's. Rounds with losses raise nothing, because losses have a
/// bound of their own (LossBound). State and work are constant. Reads no clock; thread: its owner's.
class BusyLinkFloor {
 public:
  /// Values of one ACK sample.
  struct Sample {
    Instant now;
    Duration since{};         ///< time since the previous sample
    Bytes delivered;          ///< bytes newly received by the UE, ≥ 0
    Bytes in_flight;          ///< bytes in flight after the ACK, ≥ 0
    Bytes lost;               ///< bytes marked lost since the last sample, ≥ 0
    Bytes uploaded;           ///< IP bytes of data that the UE has sent since the last sample, ≥ 0
    bool is_limited = false;  ///< true if the window limits the sender
    /// Time that the newest data has waited in the downlink's queue: the round trip without the delay of the ACK and
    /// without the base delay. Negative: unknown.
    Duration wait{};
  };

  /// Processes an ACK sample. Returns true if the sample ends a round (about a round trip); the caller must then call
  /// end_round().
  [[nodiscard]] bool on_sample(const Sample& sample);
  /// Evaluates the round that `sample` has ended, and begins the next one. `reference` is the wait in the downlink's
  /// queue that the controller intends.
  void end_round(const Sample& sample, Duration reference);
  /// Discards all measurements, because the path may have changed.
  void forget() { *this = BusyLinkFloor(); }

  /// True if the UE uploads: it has sent data of at least 64 kb/s during the last second.
  [[nodiscard]] bool uploads() const { return uploads_; }
  /// Returns the smallest window in bytes; zero if the UE does not upload.
  [[nodiscard]] double window() const { return window_; }

  /// Calls visit(name, value) for each state member, for the decision log (control/decision_log/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  void record_wait(const Sample& sample);
  void evaluate_round(double seconds, Duration reference);
  void judge(double rate, double needed);
  void raise(double window, double rate);

  // Each ACK reads the members up to `uploads_`.
  double uploaded_rate_ = 0;  ///< mean rate of the UE's data in bytes/s
  double link_rate_ = 0;      ///< rate of the busy link in bytes/s
  Instant round_began_{};     ///< begin of the present round (about a round trip); zero: no round yet
  Bytes round_left_;          ///< bytes in flight at the begin of the present round that are not delivered yet
  Bytes delivered_;           ///< bytes delivered in the present round (about a round trip)
  Bytes limited_;             ///< bytes of `delivered_` that were delivered while the window limited the sender
  /// Shortest known wait in the present round (about a round trip); negative if none is known.
  Duration least_wait_{-1};
  std::uint8_t until_judged_ = 0;  ///< rounds until the result of the last raise is known; zero: it is known
  bool has_loss_ = false;          ///< true if bytes were lost in the present round (about a round trip)
  bool uploads_ = false;
  double window_ = 0;             ///< see window()
  double before_raise_ = 0;       ///< `window_` before it was last raised
  double rate_before_raise_ = 0;  ///< delivery rate of the round before `window_` was last raised, in bytes/s
};

}  // namespace sluice::control
