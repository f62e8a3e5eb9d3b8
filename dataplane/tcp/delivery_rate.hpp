#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Bytes in flight at which the share of lost bytes first exceeded the tolerated share (BBR: inflight at loss). A loss
/// is detected late, so these are the bytes in flight at the time when the lost segments were sent
/// (draft-ietf-ccwg-bbr-06 section 5.5.10.2).
struct ExcessLoss {
  std::uint32_t in_flight = 0;  ///< bytes in flight up to the byte whose loss exceeded the tolerated share
  bool found = false;
  bool app_limited = false;  ///< true if the application limited the sender when the segment with that byte was sent
};

/// Delivery-rate sample of one acknowledgement (draft-cheng-iccrg-delivery-rate-estimation-00 section 3.1.3). The
/// values are those of Linux' tcp_rate.c, but in bytes instead of packets.
struct RateSample {
  std::uint32_t delivered = 0;  ///< bytes delivered over the sample's interval
  /// Longer one of the send interval and the ACK interval, in ticks of 1.02 µs (tick::us); 0 if there is no usable
  /// sample.
  std::uint32_t interval = 0;
  std::uint32_t prior_delivered = 0;  ///< total of delivered bytes when the newest delivered segment was sent
  std::uint32_t newly = 0;            ///< bytes that this ACK delivered, SACK included
  std::uint32_t losses = 0;           ///< bytes marked lost because of this ACK
  std::uint32_t prior_in_flight = 0;  ///< bytes in flight (pipe) before this ACK

  /// Bytes in flight when the newest delivered segment was sent, that segment included; 0: unknown.
  std::uint32_t tx_in_flight = 0;
  /// Bytes marked lost since the newest delivered segment was sent; valid if the bytes in flight at that time are known
  /// (tx_in_flight).
  std::uint32_t lost = 0;
  std::uint32_t newly_lost = 0;  ///< bytes marked lost since the last sample, including by timers
  std::uint32_t lost_runs = 0;   ///< number of contiguous runs of lost bytes since the last sample
  ExcessLoss excess;             ///< first loss since the last sample that exceeded the tolerated share
  Duration rtt{-1};              ///< RTT of the newest delivered segment that was sent once; negative if none
  bool app_limited = false;  ///< true if the application limited the sender when the newest delivered segment was sent
  bool retransmitted = false;  ///< true if the newest delivered segment had been retransmitted

  /// True if the rate is usable: the interval of the sample is at least the minimum RTT.
  [[nodiscard]] bool valid() const { return interval != 0; }
  [[nodiscard]] Rate rate() const { return Rate::of(Bytes(delivered), Duration(std::int64_t{interval} << 10)); }
};

/// Delivery-rate estimator (draft-cheng-iccrg-delivery-rate-estimation-00 section 3). The metadata (PacketNote) of each
/// segment in flight stores the state at its transmission: in scratch32, scratch64_c and, if it was sent once,
/// scratch64. For a retransmitted segment there is no space to store the bytes in flight. So the delivery or loss of a
/// retransmission counts in rates, but not in ExcessLoss.
class DeliveryRate {
 public:
  /// Sets the share of the bytes in flight that may be lost. Losses above it are reported as ExcessLoss; with a share
  /// of zero, any loss is.
  void set_tolerated_loss(float share) { tolerated_loss_ = share; }

  /// Records that a segment is sent or retransmitted (section 3.2 of the delivery-rate draft). `in_flight` is the
  /// number of bytes in flight without this segment. `idle` is true if nothing was outstanding before.
  void on_sent(packet::PacketNote& note, Instant now, std::uint32_t in_flight, bool idle);

  /// Records a segment that an ACK or SACK reports as delivered for the first time (section 3.3 of the delivery-rate
  /// draft).
  void on_delivered(const packet::PacketNote& note);
  /// Records that the first `bytes` bytes of a segment were acknowledged, and the rest not.
  void on_part_delivered(std::uint32_t bytes);
  /// Records that a segment, or its newest retransmission, is marked lost. `note` is the metadata of the packet that
  /// carries the segment.
  void on_lost(const packet::PacketNote& note);
  /// Discards all losses since the last delivery-rate sample, because the recovery was spurious and no data was really
  /// lost.
  void forgive_losses();

  /// Ends the processing of an ACK and returns its sample. An interval shorter than `min_rtt` is impossible and makes
  /// the sample invalid.
  [[nodiscard]] RateSample take(Instant now, Duration min_rtt);

  /// Marks samples as application-limited (section 3.4 of the delivery-rate draft) until everything in flight now is
  /// delivered. The rate of such a sample is that of the application, not of the path.
  void limit_by_application(std::uint32_t in_flight);
  [[nodiscard]] bool limited_by_application() const { return limited_; }

  /// Returns the total of bytes delivered on the connection; wraps.
  [[nodiscard]] std::uint32_t delivered() const { return delivered_; }

 private:
  std::uint32_t delivered_ = 0;
  /// Time at which the total of delivered bytes last changed, in ticks of 1.02 µs (tick::us).
  std::uint32_t delivered_at_ = 0;
  /// Send time of the newest delivered segment, in ticks of 1.02 µs (tick::us). The send interval of the next sample
  /// begins then.
  std::uint32_t first_sent_ = 0;
  std::uint32_t lost_ = 0;  ///< total of bytes marked lost; wraps
  /// Total of delivered bytes beyond which samples are no longer application-limited.
  std::uint32_t limited_until_ = 0;
  float tolerated_loss_ = 1;
  bool limited_ = false;

  // Sample in preparation.
  bool any_ = false;
  bool sample_limited_ = false;
  bool sample_retransmitted_ = false;
  Transmission newest_;
  std::uint32_t newly_ = 0;
  std::uint32_t prior_delivered_ = 0;
  std::uint32_t prior_at_ = 0;
  std::uint32_t send_interval_ = 0;
  std::uint32_t tx_in_flight_ = 0;
  std::uint32_t prior_lost_ = 0;
  std::uint32_t newly_lost_ = 0;
  std::uint32_t lost_runs_ = 0;
  /// Sequence number after the segment that was most recently marked lost, valid if bytes were lost since the last
  /// sample.
  SeqNum lost_end_;
  ExcessLoss excess_;
};

}  // namespace sluice::tcp
