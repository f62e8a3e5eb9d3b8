#pragma once

#include <cstdint>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Thresholds are of the average queue in bytes as line_size counts them.
struct RedParameters {
  Bytes min_threshold;           ///< below: nothing is dropped; >= 0
  Bytes max_threshold;           ///< from here on everything is, or marked (`mark_above_max`); > min_threshold
  double max_probability = 0.1;  ///< at max_threshold; 0 < p <= 1
  double weight = 0.002;         ///< of the newest queue length in the average; 0 < w <= 1
  Bytes mean_packet{1000};       ///< for how far the average falls while the line is idle; > 0
  double bytes_per_second = 0;   ///< of the line, for the same; > 0
  bool ecn = false;             ///< packets whose senders understand it are marked below max_threshold, not dropped …
  bool mark_above_max = false;  ///< … and beyond it, too, for as long as they find room (Gerla et al., footnote 7)
};

/// Random Early Detection (Floyd and Jacobson, 1993): drops or marks with a probability that grows with the average
/// queue, evenly spaced in between by the count since the last.
class RedQueue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  RedQueue(const QueueLimit& limit, const RedParameters& parameters, Random random);
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// The average queue, bytes.
  [[nodiscard]] double average() const { return average_; }

 private:
  enum class Verdict : std::uint8_t { take, notify, drop };
  void follow(Instant now);
  Verdict judge();

  QueueLimit limit_;
  RedParameters parameters_;
  Random random_;
  Ring<Queued> queue_;
  double average_ = 0;
  std::int64_t count_ = -1;  ///< packets since the last one that was marked or dropped; −1 below min_threshold
  Instant idle_since_{};
};

}  // namespace sluice::emulator
