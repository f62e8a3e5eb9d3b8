#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/rate_reduction.hpp"
#include "dataplane/tcp/reassembly.hpp"
#include "dataplane/tcp/seq.hpp"

namespace sluice::tcp {

/// Where the scoreboard of a send queue stands; what it knows of a packet is in the packet's note.
struct Scoreboard {
  /// Places of the latest SACK blocks in the queue. A segment reports at most four blocks, and a receiver repeats them.
  static constexpr std::size_t places = 4;

  mutable packet::Cursor
      retransmit;                   ///< where the next to be sent again is looked for; nothing before it waits for that
  packet::Cursor loss_edge;         ///< everything before it is sacked, taken for lost or sent again
  packet::Cursor copies;            ///< the copy sent first of those in flight; the ring's start
  std::uint32_t to_retransmit = 0;  ///< lost bytes of which no new copy was sent yet
  SeqNum fack;                      ///< end of the highest packet sacked, while there is one
  std::array<packet::Cursor, places> found{};  ///< packets of the queue where blocks were found; some may be empty
  std::uint8_t oldest_found = 0;               ///< index in `found` of the place that is overwritten next
  std::uint16_t sacked = 0;                    ///< packets; at its limit no more are marked
};

class DisturbanceStore;

/// What an endpoint keeps only while its connection is disturbed: while something is lost, sent again, out of order or
/// urgent. Most connections never are: the endpoint has a pointer to it, and without it is as if all of this were new.
struct Disturbance {
  explicit Disturbance(DisturbanceStore* from = nullptr) : store(from) {}

  Scoreboard scoreboard;
  Rack rack;
  RateReduction reduction;    ///< in a fast recovery, and after a mark
  std::uint32_t losses = 0;   ///< bytes that loss detection has marked lost since Endpoint::take_losses()
  std::uint32_t copy_ts = 0;  ///< TSval of the first copy of a repair in doubt
  SeqNum snd_up;              ///< SND.UP, with EndpointBits::urgent_out
  SeqNum rcv_up;              ///< RCV.UP, with urgent_in
  Reassembly reassembly;
  DisturbanceStore* store;  ///< where it goes back to

  /// None: what a connection that is not disturbed is looked up in.
  [[nodiscard]] static const Disturbance& none();
};

/// Where endpoints get that. Outlives them. Thread: that of its endpoints.
class DisturbanceStore {
 public:
  DisturbanceStore() = default;
  virtual ~DisturbanceStore() = default;
  DisturbanceStore(const DisturbanceStore&) = delete;
  DisturbanceStore& operator=(const DisturbanceStore&) = delete;

  /// One that is new, with this as its store. There is always one for each endpoint.
  [[nodiscard]] virtual Disturbance& take() = 0;
  virtual void give_back(Disturbance& disturbance) noexcept = 0;

  /// From the heap, for endpoints that are not on a packet path. Any thread.
  [[nodiscard]] static DisturbanceStore& heap();
};

}  // namespace sluice::tcp
