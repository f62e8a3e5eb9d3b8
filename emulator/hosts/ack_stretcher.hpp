#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Stretch acknowledgements, as of a phone that merges segments before its TCP sees them (LRO, GRO): one
/// acknowledgement goes out for so many segments in order, and for fewer after a delay. It is made when it goes: it
/// acknowledges what has come until then, and says the time of then (TSval, RFC 7323 section 3.2). What it echoes is
/// the timestamp of the first segment that it is for (section 4.3). What tells more than that data came in order goes
/// at once, as nearly everything with accurate ECN does. The endpoint acknowledges two segments at a time, and what it
/// says too early is dropped. Pure: time is an argument.
class AckStretcher {
 public:
  /// `every`: segments; up to 2 changes nothing. `delay`: how long an acknowledgement may wait.
  AckStretcher(std::uint32_t every, Duration delay) : every_(every), delay_(delay) {}

  /// It changes anything.
  [[nodiscard]] bool stretches() const { return every_ > 2; }
  /// All before `next` has come. True when it is to be acknowledged now: it is as much as one acknowledgement is for,
  /// or what came first has waited for the delay. `full`: bytes of a full segment.
  [[nodiscard]] bool came(tcp::SeqNum next, std::uint32_t full, Instant now);
  /// Whether `segment`, which is about to leave, is dropped: another one will say it. Corrects what it echoes
  /// otherwise.
  [[nodiscard]] bool holds(tcp::Segment& segment);
  /// When what has come must be acknowledged; `never` when all is.
  [[nodiscard]] Instant due() const { return due_; }
  /// The acknowledgement that has been dropped, and is to go now after all: the endpoint has nothing to add. `time`: as
  /// in what else leaves now. None where nothing is due.
  [[nodiscard]] std::optional<tcp::Segment> take(std::uint32_t time);

 private:
  void sent(const tcp::Segment& segment);

  std::uint32_t every_;
  Duration delay_;
  std::optional<tcp::SeqNum> acknowledged_;  ///< by what left
  std::optional<tcp::Segment> waiting_;      ///< the newest that was dropped
  std::optional<std::uint32_t> echo_;        ///< of the first that was dropped
  Instant due_ = never;
  bool wanted_ = false;     ///< an acknowledgement is to go now
  bool told_hole_ = false;  ///< by what left: the next one that tells more has news of it (RFC 5681 section 4.2)
};

}  // namespace sluice::emulator
