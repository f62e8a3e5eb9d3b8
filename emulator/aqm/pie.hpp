#pragma once

#include <cstdint>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Parameters of PIE; the defaults are those of RFC 8033.
struct PieParameters {
  Duration target = std::chrono::milliseconds(15);   ///< target queueing delay (QDELAY_REF), > 0
  Duration tupdate = std::chrono::milliseconds(15);  ///< time between two updates of the probability, > 0

  /// Burst allowance: time without drops after the queue becomes congested, >= 0.
  Duration max_burst = std::chrono::milliseconds(150);
  double alpha = 0.125;    ///< gain in Hz on the difference between the delay and the target, > 0
  double beta = 1.25;      ///< gain on the change of the delay, Hz, > 0
  Bytes max_packet{1514};  ///< size of a full packet; nothing is dropped if at most two of them wait
  bool ecn = false;        ///< true: ECN-capable packets are marked instead of dropped, up to a probability of 0.1
};

/// PIE (RFC 8033): drops arriving packets with a probability that a PI controller computes from the queueing delay. The
/// delay is the waiting time of the oldest packet (section 5.2 leaves the choice open). The drop probabilities of the
/// packets since the last drop are added up. The sum determines how soon the next drop may come and when it must come
/// (section 5.5).
class PieQueue final : public QueueDiscipline {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if a parameter is out of its range.
  PieQueue(const QueueLimit& limit, const PieParameters& parameters, Random random);
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Returns the probability with which an arriving packet is dropped or marked.
  [[nodiscard]] double probability() const { return probability_; }

 private:
  /// Returns the waiting time of the oldest packet, 0 if the queue is empty.
  [[nodiscard]] Duration delay(Instant now) const;
  void follow(Instant now);
  void update(Duration delay);
  [[nodiscard]] bool drops();

  QueueLimit limit_;
  PieParameters parameters_;
  Random random_;
  Ring<Queued> queue_;
  double probability_ = 0;
  double sum_ = 0;         ///< sum over arriving packets of their drop probabilities, since the last drop or mark
  Duration before_{};      ///< queueing delay at the last update
  Duration burst_left_{};  ///< remaining time of the burst allowance
  Instant next_ = never;   ///< time of the next update of the probability; `never` before the first packet
};

}  // namespace sluice::emulator
