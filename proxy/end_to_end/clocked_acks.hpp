#pragma once

#include <cstdint>

#include "control/passing_flow.hpp"
#include "control/peer_clock.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/steering/ack_steering.hpp"

namespace sluice::proxy {

/// The law by acknowledgements for connections that pass end to end. Feeds the law of each bearer from what the
/// segments of its connections tell, and makes of the bearer's window the one that goes into a connection's ACKs: its
/// part of it, and what is on the way from the server meanwhile. Thread: its shard's.
class ClockedAcks {
 public:
  explicit ClockedAcks(std::uint32_t most_flows) : flows_(most_flows) {}

  /// The law is that of what passes end to end under this bearer, too. Where acknowledgements only stand in for reports
  /// it is not: then an allowance steers, which is nothing for a connection that is not split.
  [[nodiscard]] static bool governs(const Bearer& bearer) {
    return bearer.lead().listens() && bearer.treatment().can_regulate();
  }
  [[nodiscard]] static bool watches(const EndToEndFlow& flow) { return flow.clocked != no_id; }
  /// The flow is watched from now on. Requires that the law governs its bearer and that it is not watched.
  void begin(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// The flow leaves its bearer; nothing where it is not watched.
  void forget(EndToEndFlow& flow, Bearer& bearer);

  // What follows requires that the flow is watched.

  /// A data segment passes towards the UE whose payload ends at position `end`.
  void on_data(const EndToEndFlow& flow, Bearer& bearer, const packet::Parsed& data, Bytes end, Instant now);
  /// The UE acknowledges up to position `ack`. True when nothing is under way to it any more, so that due() is sooner.
  bool on_ack(const EndToEndFlow& flow, Bearer& bearer, const tcp::Segment& segment, Bytes ack, Instant now);
  /// The window behind what the UE has acknowledged, of payload.
  [[nodiscard]] Bytes window(const EndToEndFlow& flow, const Bearer& bearer) const;
  /// An ACK has gone to the server which tells of a window up to there.
  void on_window(const EndToEndFlow& flow, Bytes edge, Instant now);
  /// When the flow stops to count because its UE has been silent; never where it does not count.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// The UE has been silent until due(): until it is heard of again, others have the flow's part.
  void set_aside(const EndToEndFlow& flow, Bearer& bearer);

 private:
  struct Watched {
    Watched(Instant now, const EndToEndFlow& flow);
    [[nodiscard]] Bytes on_wire(Bytes amount) const;
    [[nodiscard]] Bytes payload_of(Bytes wire) const;
    [[nodiscard]] Duration late(Instant now, std::uint32_t ts_value, const control::AckClockedWindow& law,
                                Duration round_trip);

    control::PassingFlow passing;
    control::PeerClock clock;
    Instant heard;  ///< of the UE
    Bytes counted;  ///< IP bytes in AckClock::flight()
    std::uint32_t newest_ts = 0;
    std::uint16_t payload = 1;  ///< so much of it made …
    std::uint16_t packet = 1;   ///< … an IP packet of so many bytes: of all that passed the largest
    std::uint16_t offered = 0;  ///< window field of the newest ACK
    bool timed = false;         ///< newest_ts is one
    bool waits = false;         ///< it counts in AckClock::passing …
    bool young = false;         ///< … as young, too
  };

  static void count(Watched& watched, AckClock& clock, Bytes flight, bool waits, bool young);
  static control::PassingFlow::Heard hear(Watched& watched, const EndToEndFlow& flow, const tcp::Segment& segment,
                                          Bytes ack, Instant now);

  flow::Slab<Watched> flows_;
};

}  // namespace sluice::proxy
