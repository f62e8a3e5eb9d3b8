#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// What acknowledgements of a UE have told, of all its connections together.
struct Acknowledged {
  Instant now;
  Bytes delivered;            ///< that it has and did not have before, > 0
  Duration round_trip{};      ///< of the newest segment that was sent once (Karn); zero when there is none
  Bytes in_flight;            ///< still under way, as far as not taken for lost
  std::uint32_t flows = 1;    ///< connections that share the window, ≥ 1
  bool held_back = false;     ///< data has waited for the window meanwhile
  Duration late{-1};          ///< that the acknowledgement came than at best (PeerClock); negative: unknown
  Bytes others{};             ///< sent to the same UE since the last news and not under the window: UDP, for instance
  Duration further{};         ///< from a change of the window to the data that comes because of it, ≥ 0
  Bytes lost{};               ///< marked lost since the last news, as far as the sender knows; ≥ 0
  double reference_part = 1;  ///< of the reference that is to wait: less while somebody waits behind it, 0 … 1
};

/// Time in which something was heard: a longer silence between two acknowledgements counts for no more than this.
inline constexpr Duration longest_listening = std::chrono::milliseconds(100);

}  // namespace sluice::control
