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

/// From `at` on, counted from the making of the line, packets take `extra` longer than the line's delay. Later steps
/// replace earlier ones.
struct DelayStep {
  Duration at{};
  Duration extra{};  ///< >= 0
};

struct DelayLineConfig {
  Duration delay{};  ///< propagation, >= 0
  Rate rate;         ///< of the line, in line_size; zero = infinitely fast
  Bytes buffer;      ///< of packets waiting for the line, the one being sent not counted; 0 = unlimited
  /// Each packet takes up to so much more or less, evenly drawn, but never passes the one before it; 0 … delay.
  Duration jitter{};
  std::vector<DelayStep> steps = {};  ///< in the order of time; packets keep their order all the same
};

struct LineCounters {
  std::uint64_t packets = 0;  ///< that came in
  std::uint64_t bytes = 0;    ///< line_size of them
  std::uint64_t dropped = 0;  ///< packets that found the buffer full
};

/// One direction of a wired hop: a delay, optionally a rate with a drop-tail buffer before it. Keeps order.
class DelayLine final : public Element, public EventTarget {
 public:
  /// `random`: for the jitter. Throws std::invalid_argument when a time is out of its range.
  DelayLine(EventLoop& loop, const DelayLineConfig& config, Element& next, Random random = Random(0));

  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const LineCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }

 private:
  struct InFlight {
    packet::Packet packet;
    Instant due{};
  };
  struct Waiting {
    Instant begins{};  ///< to be sent
    Bytes size;
  };
  /// Moves line_free_ to when a packet of `size` has been sent; false when there is no room for it to wait.
  bool wait_for_line(Bytes size, Instant now);
  /// When a packet arrives that has been sent at `sent`, which is not before the last call's.
  [[nodiscard]] Instant arrival(Instant sent);
  void arm();

  EventLoop& loop_;
  DelayLineConfig config_;
  Random random_;
  Instant began_{};       ///< when the line was made
  std::size_t step_ = 0;  ///< number of the steps that have come
  Element* next_;
  Ring<InFlight> in_flight_;  ///< in order of `due`; one event of the loop stands for all of them
  bool armed_ = false;        ///< that event is set
  Instant line_free_{};       ///< when the line has sent everything it has
  Ring<Waiting> waiting_;     ///< for the line, as of the last packet
  Bytes waiting_bytes_;
  LineCounters counters_;
};

}  // namespace sluice::emulator
