#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// More was lost than a path may lose: at which amount in flight that became so. Judged from what was in flight when
/// the segments were sent, for many loss detections wait (draft-ietf-ccwg-bbr-06 section 5.5.10.2).
struct ExcessLoss {
  std::uint32_t in_flight = 0;  ///< bytes, with the segment that was too much
  bool found = false;
  bool app_limited = false;  ///< that segment was sent while there was no more to send
};

/// How fast data got through, as of one acknowledgement (draft-cheng-iccrg-delivery-rate-estimation-00 section 3.1.3;
/// as Linux has it in tcp_rate.c, but in bytes).
struct RateSample {
  std::uint32_t delivered = 0;        ///< bytes delivered over the interval
  std::uint32_t interval = 0;         ///< the longer of the times it took to send and to acknowledge them, tick::micro
  std::uint32_t prior_delivered = 0;  ///< DeliveryRate::delivered() when the newest segment delivered was sent
  std::uint32_t newly = 0;            ///< bytes that this acknowledgement itself delivered, SACK included
  std::uint32_t losses = 0;           ///< bytes taken for lost because of it
  std::uint32_t prior_in_flight = 0;  ///< pipe before it
  std::uint32_t tx_in_flight = 0;     ///< pipe when the newest segment delivered was sent, with it; 0: not known
  std::uint32_t lost = 0;             ///< bytes taken for lost since that segment was sent; with tx_in_flight
  std::uint32_t newly_lost = 0;       ///< bytes taken for lost since the last sample, by timers too
  std::uint32_t lost_runs = 0;        ///< how many runs of adjoining segments these were
  ExcessLoss excess;                  ///< of the same losses
  Duration rtt{-1};                   ///< of the newest segment it delivered that was sent once; negative: none
  bool app_limited = false;           ///< that segment was sent while there was no more to send
  bool repeated = false;              ///< it had been sent more than once

  /// The interval means something: it is no shorter than a round trip.
  [[nodiscard]] bool valid() const { return interval != 0; }
  [[nodiscard]] Rate rate() const { return Rate::of(Bytes(delivered), Duration(std::int64_t{interval} << 10)); }
};

/// Takes delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-00 section 3). What a segment in flight
/// remembers of its transmission lies in its note: scratch32 and scratch64_c, and scratch64 while it was sent once. A
/// copy has no room for what was in flight, so what becomes of it tells of amounts and rates, but not of too much in
/// flight.
class DeliveryRate {
 public:
  /// Losses of more than this share of what was in flight are in excess; zero: any loss is.
  void set_tolerated_loss(float share) { tolerated_loss_ = share; }

  /// A segment is sent, for the first time or again (section 3.2). `in_flight`: pipe without it. `idle`: nothing was
  /// outstanding before.
  void on_sent(packet::PacketNote& note, Instant now, std::uint32_t in_flight, bool idle);

  /// An acknowledgement says that the peer has this segment, of which nobody said so before (section 3.3).
  void on_delivered(const packet::PacketNote& note);
  /// … that it has so many bytes of a segment of which the rest is missing.
  void on_part_delivered(std::uint32_t bytes);
  /// A segment that was sent, or its newest copy, is taken for lost.
  void on_lost(const packet::PacketNote& note);
  /// Nothing of what was taken for lost since the last sample was.
  void forgive_losses();

  /// The acknowledgement has told everything. `least_rtt`: what was delivered faster was not, and gives no sample.
  [[nodiscard]] RateSample take(Instant now, Duration least_rtt);

  /// Nothing more is there to send (section 3.4): what is sent until all that is in flight now has been delivered tells
  /// of the application, not of the path.
  void limit_by_application(std::uint32_t in_flight);
  [[nodiscard]] bool limited_by_application() const { return limited_; }

  /// Bytes delivered in all; wraps.
  [[nodiscard]] std::uint32_t delivered() const { return delivered_; }

 private:
  std::uint32_t delivered_ = 0;
  std::uint32_t delivered_at_ = 0;  ///< when that last changed, tick::micro
  std::uint32_t first_sent_ = 0;  ///< when the newest segment delivered was sent: the next interval begins; tick::micro
  std::uint32_t lost_ = 0;        ///< bytes taken for lost in all; wraps
  std::uint32_t limited_until_ = 0;  ///< value of delivered_ that ends the limitation by the application
  float tolerated_loss_ = 1;
  bool limited_ = false;

  // The sample in the making.
  bool any_ = false;
  bool sample_limited_ = false;
  bool sample_repeated_ = false;
  Transmission newest_;
  std::uint32_t newly_ = 0;
  std::uint32_t prior_delivered_ = 0;
  std::uint32_t prior_at_ = 0;
  std::uint32_t send_interval_ = 0;
  std::uint32_t tx_in_flight_ = 0;
  std::uint32_t prior_lost_ = 0;
  std::uint32_t newly_lost_ = 0;
  std::uint32_t lost_runs_ = 0;
  SeqNum lost_end_;  ///< behind the segment lost last, with newly_lost_
  ExcessLoss excess_;
};

}  // namespace sluice::tcp
