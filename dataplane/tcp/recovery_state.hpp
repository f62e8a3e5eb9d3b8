#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/seq.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/rate_reduction.hpp"
#include "dataplane/tcp/reassembly.hpp"

namespace sluice::tcp {

/// State of a send queue's scoreboard (RFC 6675, RFC 8985). The marks of single packets (sacked, lost, retransmitted)
/// are in the packets' metadata (PacketNote::flags).
struct Scoreboard {
  /// Largest number of queue positions that are stored to find the packets of the next SACK blocks quickly. A segment
  /// contains at most four blocks, and a receiver repeats them.
  static constexpr std::size_t places = 4;

  /// Packet at which the search for the next retransmission starts. No earlier packet is due for retransmission.
  mutable packet::Cursor retransmit;
  packet::Cursor loss_edge;  ///< position in the queue: every packet before it is sacked, marked lost or retransmitted
  packet::Cursor retransmissions;   ///< oldest retransmission in flight; head of the circular list of retransmissions
  std::uint32_t to_retransmit = 0;  ///< bytes marked lost and not retransmitted yet
  SeqNum fack;                      ///< sequence number after the highest packet sacked; valid while packets are sacked
  /// Packets at which recent searches for SACK blocks ended; later searches start there. Entries may be empty.
  std::array<packet::Cursor, places> found{};
  /// Index of the entry in `found` (packets at which searches for SACK blocks start) that is overwritten next.
  std::uint8_t oldest_found = 0;
  std::uint16_t sacked = 0;  ///< number of sacked packets; at UINT16_MAX no further packet is marked sacked
};

class RecoveryStatePool;

/// State that an endpoint needs only while data is lost, retransmitted, out of order or urgent. Most connections never
/// need it. The endpoint has a pointer to it; a null pointer means that all members have their initial values.
struct RecoveryState {
  explicit RecoveryState(RecoveryStatePool* from = nullptr) : store(from) {}

  Scoreboard scoreboard;
  Rack rack;
  RateReduction reduction;   ///< proportional rate reduction, used in fast recovery and after an ECN mark
  std::uint32_t losses = 0;  ///< bytes marked lost by loss detection since Endpoint::take_losses()
  /// Value of SND.NXT that forget_old_flight() compares at each partial acknowledgement without SACK. If SND.NXT has
  /// grown since, new data was sent; this member and new_data_seen (the time) are then updated.
  SeqNum nxt_at_partial_ack;
  Instant new_data_seen;
  /// Number of segments that a recovery without SACK assumed to be missing when its first estimate was used up: 3, then
  /// 6, and so on. Zero while the first estimate applies. See Sender::still_missing().
  std::uint8_t assumed_missing = 0;
  /// True if the last ACK of new data in a recovery without SACK covered a segment that was sent only once.
  bool acked_original = false;
  /// True if a fast recovery without SACK repairs only a lost probe of the path MTU search, so cwnd is not reduced.
  bool probe_lost = false;
  /// TSval of the first retransmission while a test decides whether it was spurious (spurious.cpp).
  std::uint32_t retransmission_ts = 0;
  /// Sequence number after the urgent data to send (SND.UP), valid while urgent data is not acknowledged.
  SeqNum snd_up;
  SeqNum rcv_up;  ///< sequence number after the urgent data received (RCV.UP), valid while urgent data is not read
  Reassembly reassembly;
  RecoveryStatePool* store;  ///< pool to which this state is returned

  /// Returns a shared constant in its initial state, read by connections that hold no RecoveryState.
  [[nodiscard]] static const RecoveryState& none();
};

/// Pool from which endpoints take a RecoveryState. Must outlive them. Thread: that of its endpoints.
class RecoveryStatePool {
 public:
  RecoveryStatePool() = default;
  virtual ~RecoveryStatePool() = default;
  RecoveryStatePool(const RecoveryStatePool&) = delete;
  RecoveryStatePool& operator=(const RecoveryStatePool&) = delete;

  /// Returns a RecoveryState in its initial state whose member `store` is this pool. Never fails, because the pool has
  /// one for each endpoint.
  [[nodiscard]] virtual RecoveryState& take() = 0;
  virtual void give_back(RecoveryState& recovery_state) noexcept = 0;

  /// Returns a pool that allocates from the heap, for endpoints outside the packet path. Any thread.
  [[nodiscard]] static RecoveryStatePool& heap();
};

}  // namespace sluice::tcp
