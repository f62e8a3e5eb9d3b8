#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Computes the smallest window that keeps the downlink busy while the UE uploads. An upload fills the queue of the
/// UE's modem, and ACKs wait in that queue. A round trip then does not show how much of it was spent in the downlink's
/// queue. The delivery rate shows it: it grows with the window while the downlink is idle at times, but not once the
/// downlink is busy.
///
/// The rate is measured per round. A round is the time in which all bytes in flight at its start are delivered, so it
/// lasts for a round trip. A rate below that of the link shows that the link was idle. The window then rises to the
/// bytes that the link carries in such a round trip. Two rounds later the rates before and after the raise are
/// compared:
///
/// - A higher rate confirms that the link was idle, so the window is raised again.
/// - An equal rate shows that the link was busy. The raise is withdrawn, and the estimated rate of the link is lowered.
/// - A lower rate is not caused by the raise. ACKs have waited for longer than before, so the window is raised again.
///
/// While the rate is that of the link, the window slowly falls, because the downlink may have a queue that is not
/// visible. If the UE's timestamps show the delay of ACKs, this queue is visible. If all data of a round has then
/// waited in it for longer than intended, the window falls by the excess. A wait that the bytes in flight cannot cause
/// is ignored, because it is not the downlink's. Rounds with losses raise nothing, because LossBound handles losses.
/// Memory and work per ACK are constant. Reads no clock. Not thread-safe.
class BusyLinkFloor {
 public:
  /// Values of one ACK, or of several ACKs that are summed.
  struct Sample {
    Instant now;
    Duration since{};         ///< time since the previous sample
    Bytes delivered;          ///< bytes newly received by the UE, ≥ 0
    Bytes in_flight;          ///< bytes in flight after the ACK, ≥ 0
    Bytes lost;               ///< bytes marked lost since the last sample, ≥ 0
    Bytes uploaded;           ///< IP bytes of data that the UE has sent since the last sample, ≥ 0
    bool is_limited = false;  ///< true if the controller's window limits the sender
    /// Time that the newest data has waited in the downlink's queue: the round trip minus the time that the
    /// ACK has waited for the uplink, and minus the base delay (round trip through an empty queue). Negative if
    /// unknown.
    Duration wait{};
  };

  /// Adds an ACK sample to the present round (about a round trip). Returns true if the sample ends the round; the
  /// caller must then call end_round().
  [[nodiscard]] bool on_sample(const Sample& sample);
  /// Updates window(), the lower bound of the window during an upload, by what was measured in the round (about a round
  /// trip) that `sample` ends. Begins the next round. `reference` is the target wait in the downlink's queue.
  void end_round(const Sample& sample, Duration reference);
  /// Discards all measurements, because the path may have changed.
  void forget() { *this = BusyLinkFloor(); }

  /// True if the UE uploads: it sends at least 64 kb/s of data, as a mean over about a second.
  [[nodiscard]] bool uploads() const { return uploads_; }
  /// Returns the smallest window, in bytes, that keeps the downlink busy; zero if the UE does not upload.
  [[nodiscard]] double window() const { return window_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  void record_wait(const Sample& sample);
  void evaluate_round(double seconds, Duration reference);
  void judge(double rate, double needed);
  void raise(double window, double rate);

  // Each ACK reads the members up to `uploads_`.
  double uploaded_rate_ = 0;  ///< mean rate of the data that the UE sends, in bytes/s
  double link_rate_ = 0;      ///< estimated rate of the downlink while it is busy, in bytes/s
  Instant round_began_{};     ///< start of the present round (about a round trip); zero: no round yet
  Bytes round_left_;          ///< bytes in flight at the start of the present round that are not delivered yet
  Bytes delivered_;           ///< bytes delivered in the present round (about a round trip)
  /// Bytes of `delivered_` that were delivered while the controller's window limited the sender.
  Bytes limited_;
  /// Shortest known wait in the downlink's queue in the present round (about a round trip); negative if none is known.
  Duration least_wait_{-1};
  /// Rounds (about a round trip each) until the last raise of the window is evaluated. Zero if it was evaluated, or if
  /// there was none.
  std::uint8_t until_judged_ = 0;
  bool has_loss_ = false;  ///< true if bytes were lost in the present round (about a round trip)
  bool uploads_ = false;
  double window_ = 0;             ///< see window()
  double before_raise_ = 0;       ///< value of `window_` before its last raise, in bytes
  double rate_before_raise_ = 0;  ///< delivery rate of the round before `window_` was last raised, in bytes/s
};

}  // namespace sluice::control
