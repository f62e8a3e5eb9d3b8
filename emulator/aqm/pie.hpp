#pragma once

#include <cstdint>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// The defaults are those of RFC 8033.
struct PieParameters {
  Duration target = std::chrono::milliseconds(15);   ///< QDELAY_REF, > 0
  Duration tupdate = std::chrono::milliseconds(15);  ///< between two updates of the probability, > 0
  Duration max_burst = std::chrono::milliseconds(
      150);                ///< burst allowance: no drops for this time after the queue becomes congested, >= 0
  double alpha = 0.125;    ///< Hz: gain on the distance from the target, > 0
  double beta = 1.25;      ///< Hz: gain on the change of the delay, > 0
  Bytes max_packet{1514};  ///< nothing is dropped while two of them or less wait
  bool ecn = false;        ///< packets whose senders understand it are marked up to a probability of 0.1, not dropped
};

/// PIE (RFC 8033): drops what comes with a probability that a PI controller makes of the queueing delay. The delay is
/// how long the oldest packet has waited (section 5.2 leaves that to the implementation), and drops are spaced by the
/// sum of the probabilities (section 5.5).
class PieQueue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  PieQueue(const QueueLimit& limit, const PieParameters& parameters, Random random);
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// The probability with which a packet that comes is dropped.
  [[nodiscard]] double probability() const { return probability_; }

 private:
  [[nodiscard]] Duration delay(Instant now) const;
  void follow(Instant now);
  void update(Duration delay);
  [[nodiscard]] bool drops();

  QueueLimit limit_;
  PieParameters parameters_;
  Random random_;
  Ring<Queued> queue_;
  double probability_ = 0;
  double sum_ = 0;         ///< of the probabilities since the last drop
  Duration before_{};      ///< the delay at the last update
  Duration burst_left_{};  ///< of max_burst
  Instant next_ = never;   ///< update; never before the first packet
};

}  // namespace sluice::emulator
