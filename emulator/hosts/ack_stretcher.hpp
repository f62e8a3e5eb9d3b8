#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Models the stretch ACKs of a receiver that merges segments (LRO, GRO): one ACK per `every` in-order segments, or for
/// fewer after a delay. The acknowledgement number and TSval of an ACK are those of the time when it is sent (RFC 7323
/// section 3.2). TSecr is the timestamp of the first segment that the ACK acknowledges (section 4.3). An ACK that
/// contains more than the acknowledgement of in-order data is not delayed; with accurate ECN this is nearly every ACK.
/// The endpoint still acknowledges every two segments; its early ACKs are dropped here. Pure: time is an argument.
class AckStretcher {
 public:
  /// Makes a stretcher for one ACK per `every` segments; a value up to 2 leaves all ACKs unchanged. `delay` is the
  /// longest time an ACK may be withheld.
  AckStretcher(std::uint32_t every, Duration delay) : every_(every), delay_(delay) {}

  /// True if the stretcher withholds ACKs, because it sends one ACK for more than two segments.
  [[nodiscard]] bool stretches() const { return every_ > 2; }
  /// Records that every byte before `next` was received. Returns true if an ACK is due. An ACK is due once the
  /// unacknowledged bytes fill as many segments of `full` bytes as one ACK covers. It is also due once the oldest of
  /// these bytes has waited for the longest delay.
  [[nodiscard]] bool on_received(tcp::SeqNum next, std::uint32_t full, Instant now);
  /// Returns true if `segment` is an ACK to drop, because a later ACK covers it. Otherwise the segment passes, and
  /// echoes the timestamp of the first ACK that was dropped since the last segment that passed.
  [[nodiscard]] bool holds(tcp::Segment& segment);
  /// Returns the time by which the received data must be acknowledged; `never` if nothing is unacknowledged.
  [[nodiscard]] Instant due() const { return due_; }
  /// Returns the withheld ACK, with TSval `time`, if it is due now and the endpoint has sent no ACK in the meantime.
  /// Otherwise returns nothing.
  [[nodiscard]] std::optional<tcp::Segment> take(std::uint32_t time);

 private:
  void sent(const tcp::Segment& segment);

  std::uint32_t every_;
  Duration delay_;
  std::optional<tcp::SeqNum> acknowledged_;  ///< acknowledgement number of the last segment that the host sent
  std::optional<tcp::Segment> waiting_;      ///< newest ACK that was withheld
  std::optional<std::uint32_t> echo_;        ///< echoed timestamp of the first ACK that was withheld
  Instant due_ = never;
  bool ack_due_ = false;  ///< true if an ACK must be sent now

  /// True if the last segment sent reported missing data (SACK). The next ACK is then not delayed (RFC 5681 section
  /// 4.2).
  bool reported_hole_ = false;
};

}  // namespace sluice::emulator
