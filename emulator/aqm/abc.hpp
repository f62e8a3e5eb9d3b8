#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "dataplane/units/rate.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// η and δ are the publication's; threshold and window are for a link that sends in batches of some milliseconds.
struct AbcParameters {
  double eta = 0.98;                                         ///< share of the link that is aimed at, 0 < η <= 1
  Duration delta = std::chrono::milliseconds(133);           ///< δ: in which a queue is to be emptied, > 0
  Duration delay_threshold = std::chrono::milliseconds(20);  ///< dt: delay that is none, of the link's batches, >= 0
  Duration window = std::chrono::milliseconds(40);           ///< T: over which rates are measured, > 0
};

/// Bytes of the last so much time.
class RecentBytes {
 public:
  explicit RecentBytes(Duration window) : window_(window) {}
  void add(Bytes bytes, Instant now);
  [[nodiscard]] double per_second(Instant now);

 private:
  struct Part {
    Instant at;
    Bytes bytes;
  };
  Duration window_;
  std::deque<Part> parts_;
  Bytes sum_;
};

/// Which packets may accelerate their sender (Goyal et al., NSDI 2020): a share f of them, chosen so that
/// a round trip later the sender sends at the target rate. No randomness: tokens space them evenly.
class AbcControl {
 public:
  /// `capacity`: of a link whose rate does not vary; nothing: what offer() says. Throws std::invalid_argument when a
  /// parameter is out of its range.
  explicit AbcControl(const AbcParameters& parameters, std::optional<Rate> capacity = std::nullopt);

  /// The link could carry so much, between `since` and `now`: used or not.
  void offer(Bytes bytes, Instant since, Instant now);
  /// A packet of this size is sent that has waited so long. False: it tells its sender to brake.
  [[nodiscard]] bool accelerates(Bytes size, Duration waited, Instant now);

 private:
  [[nodiscard]] double target_rate(Duration waited, Instant now);

  AbcParameters parameters_;
  std::optional<Rate> capacity_;
  RecentBytes offered_;
  RecentBytes sent_;
  double tokens_ = 0;
};

/// An ABC router before a line of a constant rate: first in, first out; what finds it full is dropped.
class AbcQueue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  AbcQueue(const QueueLimit& limit, const AbcParameters& parameters, Rate rate)
      : limit_(limit), control_(parameters, rate) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  AbcControl control_;
  Ring<Queued> queue_;
};

/// Brakes the sender of a packet that may still accelerate; false when it is not one of ABC's (ECT(1)), or was braked
/// before.
bool brake(packet::Packet& frame);

}  // namespace sluice::emulator
