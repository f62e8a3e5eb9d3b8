#pragma once

#include <cstdint>
#include <vector>

#include "control/ack_release.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// The three forms of the Window Regulator.
enum class WindowRegulation : std::uint8_t {
  fixed,       ///< WRS: the buffer
  dynamic,     ///< WRD: the buffer and what is on the air
  ack_buffer,  ///< WRB: as WRD, and ACKs that would only freeze the window are kept for when it may grow
};

/// Parameters of the Window Regulator, of one flow.
struct WindowRegulatorParameters {
  WindowRegulation form = WindowRegulation::ack_buffer;
  Bytes buffer{20'000};  ///< B, of this flow alone; > 0. The paper's 20 packets of 1 kB
  Bytes segment{1448};   ///< the largest segment of the flow, > 0; only for validate()
};

/// Checks ranges and eqs. 2 and 3 of the paper: a buffer that holds no two segments runs empty between ACKs.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const WindowRegulatorParameters& parameters);

/// The Window Regulator (Chan & Ramjee, INFOCOM 2004, figures 3 to 5) of one flow, in bytes. All positions are those of
/// StreamPosition. No clock inside; thread: its flow's.
///
/// Y, the data on the air, is the highest position that has left the queue less the highest acknowledged: a
/// retransmission or duplicate ACK then counts nothing, a delayed ACK counts all it covers. For WRD and WRB the right
/// edge is thereby always "what left the queue + B", whence eq. 3: never more than B in the queue. Behind a window
/// scale it is less by what AdvertisedWindow rounds off.
///
/// Reading of figure 5: Ba is what is in the ACK buffer now. The figure never lowers it, and taken to the letter
/// W = Y + B + Ba then grows by a packet with every ACK that follows a dequeue, for ever, against eq. 3 and against the
/// text, which has it converge. In bytes Ba is what the held ACKs acknowledge, and an ACK is held as long as the window
/// it would carry is smaller than the last one; with an ACK per packet that is the figure's "one ACK per dequeue", with
/// delayed ACKs it does not spend the buffer twice as fast as it fills. Beyond the paper: with nothing in the queue and
/// nothing on the air nothing is held, since no event would ever release it.
class WindowRegulator {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit WindowRegulator(const WindowRegulatorParameters& parameters);

  /// B has changed: more or fewer flows share the buffer. > 0.
  void set_buffer(Bytes buffer) { parameters_.buffer = buffer; }
  /// Data up to `end` has left the queue towards the UE; retransmissions may be told or not. `queue_empty`: nothing of
  /// this flow waits there now.
  [[nodiscard]] AckRelease on_dequeue(Bytes end, bool queue_empty);
  /// An ACK of `ack` has come from the UE. One that acknowledges nothing new is a duplicate: it goes at once, and what
  /// is held goes before it.
  [[nodiscard]] AckRelease on_ack(Bytes ack, bool queue_empty);
  /// The window Wr to write into an ACK of `ack` that goes to the server now; ≥ 0.
  [[nodiscard]] Bytes window(Bytes ack) const;
  /// That ACK has gone, with `window` in it: what was really written, after the receiver's own and the rounding.
  void on_released(Bytes ack, Bytes window);

  /// Y.
  [[nodiscard]] Bytes on_air() const { return dequeued_ - acked_; }
  /// Ba: what the ACKs acknowledge that have arrived and have not gone.
  [[nodiscard]] Bytes held() const { return acked_ - released_; }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  [[nodiscard]] AckRelease release(bool queue_empty);

  WindowRegulatorParameters parameters_;
  EmptyQueueRelease rescue_;
  Bytes dequeued_;  ///< highest position that left the queue
  Bytes acked_;     ///< highest position the UE has acknowledged
  Bytes released_;  ///< … and the server knows of
  Bytes edge_;      ///< furthest right edge that went to the server
  bool advertised_ = false;
};

}  // namespace sluice::control
