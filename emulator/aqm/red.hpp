#pragma once

#include <cstdint>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Parameters of RED (Random Early Detection). Thresholds apply to the average queue length in bytes, without Ethernet
/// headers (line_size).
struct RedParameters {
  Bytes min_threshold;  ///< average queue length below which no packet is marked or dropped early, >= 0

  /// Average queue length in bytes from which on every packet is dropped; > min_threshold. With mark_above_max packets
  /// are marked instead.
  Bytes max_threshold;
  double max_probability = 0.1;  ///< drop probability when the average queue length reaches max_threshold, 0 < p <= 1
  double weight = 0.002;         ///< weight of the newest queue length in the average, 0 < w <= 1
  /// Packet size, > 0. While the line is idle, the average decays as if packets of this size were sent.
  Bytes mean_packet{1000};
  /// Rate of the line in bytes per second, > 0. It determines how fast the average decays while the line is idle.
  double bytes_per_second = 0;
  bool ecn = false;  ///< true: below max_threshold, ECN-capable packets are marked instead of dropped

  /// True if ECN-capable packets are marked instead of dropped, also at an average queue length above max_threshold
  /// (Gerla et al., ETT 2002, footnote 7). A full buffer still drops them.
  bool mark_above_max = false;
};

/// Random Early Detection (Floyd and Jacobson, 1993). Drops or marks packets with a probability that grows with the
/// average queue length. The probability also grows with the number of packets since the last drop, so that drops are
/// spaced evenly.
class RedQueue final : public QueueDiscipline {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if a parameter is out of its range.
  RedQueue(const QueueLimit& limit, const RedParameters& parameters, Random random);
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Returns the average queue length in bytes.
  [[nodiscard]] double average() const { return average_; }

 private:
  /// Decision about an arriving packet: accept, notify the sender (by a mark, or a drop without ECN), or drop.
  enum class Verdict : std::uint8_t { take, notify, drop };
  void follow(Instant now);
  Verdict judge();

  QueueLimit limit_;
  RedParameters parameters_;
  Random random_;
  Ring<Queued> queue_;
  double average_ = 0;  ///< average queue, bytes
  /// Number of packets since the last mark or drop; −1 while the average is below min_threshold.
  std::int64_t count_ = -1;
  Instant idle_since_{};  ///< time at which the queue last became empty
};

}  // namespace sluice::emulator
