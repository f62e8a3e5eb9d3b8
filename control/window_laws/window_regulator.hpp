#pragma once

#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "control/window_laws/ack_release.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Selects one of the three forms of the Window Regulator (WRS, WRD and WRB of Chan and Ramjee, INFOCOM 2004).
enum class WindowRegulation : std::uint8_t {
  fixed,  ///< WRS (static): the window is always the flow's share B of the radio buffer
  /// WRD (dynamic): the window is the flow's share B of the radio buffer plus the bytes on the air. These have left the
  /// radio queue and are not acknowledged.
  dynamic,
  /// WRB: the same window as WRD (`dynamic`), but an ACK is withheld while its window would be smaller than that of the
  /// last ACK. So the window does not shrink.
  ack_buffer,
};

/// Parameters of the Window Regulator for one flow.
struct WindowRegulatorParameters {
  WindowRegulation form = WindowRegulation::ack_buffer;
  Bytes buffer{20'000};  ///< B: buffer for this flow alone, > 0; the paper uses 20 packets of 1 kB
  Bytes segment{1448};   ///< size of the flow's largest segment, > 0
};

/// Checks the ranges, and eqs. 2 and 3 of the Window Regulator paper (Chan & Ramjee, INFOCOM 2004): a buffer of less
/// than two segments runs empty between ACKs. Returns the broken rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const WindowRegulatorParameters& parameters);

/// The Window Regulator of one flow, in bytes (Chan & Ramjee, INFOCOM 2004, figures 3 to 5). Positions are those of
/// StreamPosition. Reads no clock. Not thread-safe.
///
/// Y is the data on the air: the highest position that left the queue minus the highest acknowledged one. So a
/// retransmission or duplicate ACK adds nothing, and a delayed ACK counts all bytes that it acknowledges. For WRD and
/// WRB the right edge is always "position that left the queue + B", where B is the flow's buffer. This gives eq. 3: the
/// queue never has more than B bytes. With a window scale the edge is lower by the rounding of AdvertisedWindow.
///
/// Interpretation of figure 5: Ba is the current content of the buffer of withheld ACKs, which the figure never lowers.
/// Taken literally, the window W = Y + B + Ba would grow by a packet with every ACK after a dequeue, without bound.
/// That contradicts eq. 3 and the text, in which W converges. Here Ba is the number of bytes that the withheld ACKs
/// acknowledge.
///
/// An ACK is withheld while its window would be smaller than the last one. If the receiver acknowledges each packet,
/// this equals the figure's "one ACK per dequeue". With delayed ACKs, one ACK per dequeue would release withheld ACKs
/// twice as fast as they arrive. The paper does not cover an empty queue with nothing on the air. No ACK is withheld in
/// that state, because no event would release it.
class WindowRegulator {
 public:
  /// Makes a regulator with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit WindowRegulator(const WindowRegulatorParameters& parameters);

  /// Sets B, this flow's share of the buffer, > 0. The share changes with the number of flows.
  void set_buffer(Bytes buffer) { parameters_.buffer = buffer; }
  /// Records that data up to position `end` has left the queue towards the UE; this may be a retransmission.
  /// `queue_empty` is true if no data of this flow is in the queue or on its way to it. Returns which withheld ACKs are
  /// to be released.
  [[nodiscard]] AckRelease on_dequeue(Bytes end, bool queue_empty);
  /// Records an ACK of position `ack` from the UE. `queue_empty` is true if no data of this flow is in the queue or on
  /// its way to it. Returns which withheld ACKs are to be released. A duplicate ACK releases itself and all withheld
  /// ones before it.
  [[nodiscard]] AckRelease on_ack(Bytes ack, bool queue_empty);
  /// Returns Wr, the window in bytes for an ACK of position `ack` that is sent to the server now; ≥ 0.
  [[nodiscard]] Bytes window(Bytes ack) const;
  /// Records that an ACK of position `ack` was sent to the server. `window` is the window in that ACK, which is limited
  /// by the receiver's own window and rounded.
  void on_released(Bytes ack, Bytes window);

  /// Returns Y, the bytes on the air: they left the queue and are not acknowledged.
  [[nodiscard]] Bytes on_air() const { return dequeued_ - acked_; }
  /// Returns Ba, the bytes that withheld ACKs acknowledge.
  [[nodiscard]] Bytes held() const { return acked_ - released_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] AckRelease release(bool queue_empty);

  WindowRegulatorParameters parameters_;
  EmptyQueueRelease rescue_;
  Bytes dequeued_;  ///< highest stream position that left the queue
  Bytes acked_;     ///< highest stream position that the UE has acknowledged
  Bytes released_;  ///< highest stream position acknowledged to the server
  Bytes edge_;      ///< furthest right edge sent to the server
  bool advertised_ = false;
};

}  // namespace sluice::control
