#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "dataplane/units/rate.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Parameters of ABC (Accel-Brake Control; Goyal et al., NSDI 2020). The defaults of η and δ are those of the paper.
/// The defaults of delay threshold and window suit a link that sends batches of packets some milliseconds apart.
struct AbcParameters {
  double eta = 0.98;                                ///< target share of the link's capacity (η), 0 < η <= 1
  Duration delta = std::chrono::milliseconds(133);  ///< time in which the target rate drains a queue (δ), > 0

  /// Delay that is not counted as queueing (dt), because the link sends in batches; >= 0.
  Duration delay_threshold = std::chrono::milliseconds(20);
  Duration window = std::chrono::milliseconds(40);  ///< time over which rates are measured (T), > 0
};

/// Measures the mean rate over a sliding time window: each call of add() counts bytes, which leave the sum one window
/// later.
class RecentBytes {
 public:
  explicit RecentBytes(Duration window) : window_(window) {}
  void add(Bytes bytes, Instant now);
  /// Returns the mean rate over the sliding time window in bytes per second.
  [[nodiscard]] double per_second(Instant now);

 private:
  /// Number of bytes that were added at one instant.
  struct Part {
    Instant at;
    Bytes bytes;
  };
  Duration window_;
  std::deque<Part> parts_;
  Bytes sum_;
};

/// Decides which packets accelerate their sender and which brake it (ABC; Goyal et al., NSDI 2020). The share f of
/// accelerated packets is such that the sender reaches the target rate one round trip later. No random numbers are
/// used: tokens space the accelerate marks evenly.
class AbcControl {
 public:
  /// Creates the control. `capacity` is the constant rate of the link; if it is empty, the rate is measured from the
  /// calls of offer(). Throws std::invalid_argument if a parameter is out of its range.
  explicit AbcControl(const AbcParameters& parameters, std::optional<Rate> capacity = std::nullopt);

  /// Reports that the link could carry `bytes` between `since` and `now`, whether or not it carried them.
  void offer(Bytes bytes, Instant since, Instant now);
  /// Decides about a packet of `size` that leaves the queue after the queueing delay `waited`. Each packet adds
  /// f = min(tr / (2·cr), 1) tokens, where tr is the target rate, and cr the rate at which the queue sends. A packet
  /// with ECT(1), by which it asks its sender to accelerate, costs one token. Without a token, ECT(1) is changed into
  /// CE, by which the packet asks to brake. Returns true if the mark was changed.
  [[nodiscard]] bool brakes(packet::Packet& frame, Bytes size, Duration waited, Instant now);

 private:
  [[nodiscard]] double target_rate(Duration waited, Instant now);

  AbcParameters parameters_;
  std::optional<Rate> capacity_;
  RecentBytes offered_;
  RecentBytes sent_;
  double tokens_ = 0;  ///< number of saved permissions for accelerate marks, at most max_tokens
};

/// FIFO queue of an ABC router whose link has a constant rate, with tail drop.
class AbcQueue final : public QueueDiscipline {
 public:
  /// Creates an empty queue before a link of the constant rate `rate`. Throws std::invalid_argument if a parameter is
  /// out of its range.
  AbcQueue(const QueueLimit& limit, const AbcParameters& parameters, Rate rate)
      : limit_(limit), control_(parameters, rate) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  AbcControl control_;
  Ring<Queued> queue_;
};

}  // namespace sluice::emulator
