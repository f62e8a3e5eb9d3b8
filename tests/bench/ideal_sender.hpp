#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/packet/pool.hpp"

namespace sluice::bench {

using Milliseconds = std::int64_t;

/// A link and the path from the sender to it.
struct IdealLink {
  std::vector<std::int64_t> capacity{};  ///< bytes that each TTI carries, for the whole run
  Milliseconds tti = 1;                  ///< > 0; of the link and of its uplink
  Milliseconds way = 10;                 ///< between sender and Node-B, >= 0
  Milliseconds warmup = 5000;            ///< not measured
  bool scheduled = true;                 ///< the uplink, as a scenario has it by default; without, nothing waits there

  [[nodiscard]] Milliseconds duration() const { return static_cast<Milliseconds>(capacity.size()) * tti; }
};

/// What a trace in Mahimahi's format carries in each TTI. Throws emulator::TraceError when it cannot be used.
[[nodiscard]] std::vector<std::int64_t> capacities(const std::string& file, Milliseconds tti, Milliseconds duration);

enum class Feedback : std::uint8_t { by_acks, at_once };

struct IdealSetting {
  Milliseconds memory;     ///< time constant of the mean rate
  Milliseconds reference;  ///< reference of the queue
  Milliseconds longest;    ///< beyond a round trip, that deliveries are taken to have gone on without news
  double gain;
};

struct IdealOutcome {
  double use = 0;     ///< per cent
  double p95_ms = 0;  ///< in the radio queue
};

/// Returns the utilisation and delay of an ideal sender on a link. The sender receives only the ACKs of the UE, over
/// the uplink and the hops. From each ACK it learns when each byte reached the UE, and it knows the delays of all hops
/// without loss or rounding. The future capacity of the link is unknown to it. With the other setting, it learns of
/// every byte at once.
[[nodiscard]] IdealOutcome ideal_sender(packet::PacketPool& pool, const IdealLink& link, Feedback feedback,
                                        const IdealSetting& setting);

}  // namespace sluice::bench
