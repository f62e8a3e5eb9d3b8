#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// How fast data got through, as of one acknowledgement (draft-cheng-iccrg-delivery-rate-estimation-00 section 3.1.3;
/// as Linux has it in tcp_rate.c, but in bytes).
struct RateSample {
  std::uint32_t delivered = 0;        ///< bytes delivered over the interval
  std::uint32_t interval = 0;         ///< the longer of the times it took to send and to acknowledge them, tick::micro
  std::uint32_t prior_delivered = 0;  ///< DeliveryRate::delivered() when the newest segment delivered was sent
  std::uint32_t newly = 0;            ///< bytes that this acknowledgement itself delivered, SACK included
  std::uint32_t losses = 0;           ///< bytes taken for lost because of it
  std::uint32_t prior_in_flight = 0;  ///< pipe before it
  Duration rtt{-1};                   ///< of the newest segment it delivered that was sent once; negative: none
  bool app_limited = false;           ///< that segment was sent while there was no more to send
  bool repeated = false;              ///< it had been sent more than once

  /// The interval means something: it is no shorter than a round trip.
  [[nodiscard]] bool valid() const { return interval != 0; }
  [[nodiscard]] Rate rate() const { return Rate::of(Bytes(delivered), Duration(std::int64_t{interval} << 10)); }
};

/// Takes delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-00 section 3). What a segment in flight
/// remembers of its transmission lies in its note: scratch32 and scratch64_c.
class DeliveryRate {
 public:
  /// A segment is sent, for the first time or again (section 3.2). `idle`: nothing was outstanding before.
  void on_sent(packet::PacketNote& note, Instant now, bool idle);

  /// An acknowledgement says that the peer has this segment, of which nobody said so before (section 3.3).
  void on_delivered(const packet::PacketNote& note);
  /// … that it has so many bytes of a segment of which the rest is missing.
  void on_part_delivered(std::uint32_t bytes);
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
  std::uint32_t limited_until_ = 0;  ///< value of delivered_ that ends the limitation by the application
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
};

}  // namespace sluice::tcp
