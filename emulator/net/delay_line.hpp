#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Change of the delay of a line. From `at` on, the delay is longer than the configured delay by `extra`. The time `at`
/// counts from the construction of the line. A later step replaces the earlier one.
struct DelayStep {
  Duration at{};
  Duration extra{};  ///< additional delay, >= 0
};

/// Configuration of a delay line.
struct DelayLineConfig {
  Duration delay{};  ///< propagation delay, >= 0
  Rate rate;         ///< rate of the line, for frames without Ethernet headers (line_size); zero: infinite
  /// Largest sum of the sizes of the packets that wait for the line; the packet being sent does not count. 0:
  /// unlimited.
  Bytes buffer;

  /// Largest random deviation of a packet's delay from the propagation delay, 0 … propagation delay. The deviation is
  /// uniformly distributed between its negative and its positive largest value. Packets never overtake each other.
  Duration jitter{};
  std::vector<DelayStep> steps = {};  ///< changes of the delay in time order; they do not reorder packets
};

/// Cumulative counters of a line.
struct LineCounters {
  std::uint64_t packets = 0;  ///< packets received
  std::uint64_t bytes = 0;    ///< sum of the sizes of received frames, without Ethernet headers (line_size)
  std::uint64_t dropped = 0;  ///< packets dropped because the buffer was full
};

/// One direction of a wired hop: a propagation delay, and optionally a line of limited rate with a tail-drop buffer
/// before it. Packets keep their order. Thread: the event loop's.
class DelayLine final : public Element, public EventTarget {
 public:
  /// Creates an empty line; `random` draws the jitter. `loop` and `next` must outlive it. Throws std::invalid_argument
  /// if a time is out of its range.
  DelayLine(EventLoop& loop, const DelayLineConfig& config, Element& next, Random random = Random(0));

  /// Sets the element that receives the packets. The element must outlive the line.
  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const LineCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }

 private:
  /// A packet on the line, and its arrival time.
  struct InFlight {
    packet::Packet packet;
    Instant due{};
  };
  /// Size of a packet that waits for the line.
  struct Waiting {
    Instant begins{};  ///< start of its transmission
    Bytes size;
  };
  /// Reserves the line for the transmission of `size` bytes, after the packets that wait for it. Returns false, and
  /// reserves nothing, if the buffer has no space.
  bool wait_for_line(Bytes size, Instant now);
  /// Returns the arrival time of a packet sent at `sent`, which must not decrease.
  [[nodiscard]] Instant arrival(Instant sent);
  /// Schedules the event at which the next packet on the line arrives at the far end, if none is scheduled.
  void arm();

  EventLoop& loop_;
  DelayLineConfig config_;
  Random random_;
  Instant began_{};       ///< construction time of the line
  std::size_t step_ = 0;  ///< number of delay steps that have passed
  Element* next_;
  /// Packets on the line in the order of their arrival at the far end. Only the first one has an event in the event
  /// loop.
  Ring<InFlight> in_flight_;
  bool armed_ = false;     ///< true if the event of the next arrival is set
  Instant line_free_{};    ///< time at which the line ends its last transmission
  Ring<Waiting> waiting_;  ///< sizes of the packets that waited for the line when the latest packet arrived
  Bytes waiting_bytes_;    ///< sum of the sizes of the packets that wait for the line
  LineCounters counters_;
};

}  // namespace sluice::emulator
