#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/packet/pool.hpp"

namespace sluice::bench {

using Milliseconds = std::int64_t;

/// A link and the way to it.
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

enum class Hears : std::uint8_t { by_acks, at_once };

struct IdealSetting {
  Milliseconds memory;     ///< of the mean rate
  Milliseconds reference;  ///< of queue
  Milliseconds longest;    ///< beyond a round trip, that deliveries are taken to have gone on without news
  double gain;
};

struct IdealOutcome {
  double use = 0;     ///< per cent
  double p95_ms = 0;  ///< in the radio queue
};

/// How much of a link an ideal sender uses at what delay. All that it hears are acknowledgements of the UE, up the
/// uplink and over the way. It knows of every byte when it reached the UE, as soon as an acknowledgement tells, knows
/// the delays of all hops, loses nothing and divides nothing. What it cannot know is what the link will carry until its
/// data is there. Or it hears of every byte at once.
[[nodiscard]] IdealOutcome ideal_sender(packet::PacketPool& pool, const IdealLink& link, Hears hears,
                                        const IdealSetting& setting);

}  // namespace sluice::bench
