#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/report/delay_digest.hpp"

namespace sluice::emulator {

/// What became of one connection, as its client saw it.
struct FlowRecord {
  std::string application;  ///< "bulk", "web"
  IpAddress ue;
  Instant opened = never;     ///< SYN sent
  Instant connected = never;  ///< handshake complete
  Instant finished = never;   ///< last byte, or the end of the connection
  std::uint64_t bytes = 0;    ///< of payload, received or acknowledged
  std::uint64_t corrupted = 0;
  std::uint64_t retransmitted = 0;  ///< segments, by the client
  std::uint64_t timeouts = 0;       ///< of the client
  Duration srtt{};
  tcp::CloseReason reason = tcp::CloseReason::none;
};

/// What the applications of a run came to.
struct FlowLog {
  std::vector<FlowRecord> flows;
  DelayDigest fetch_times;  ///< from asking for an object to its last byte
  DelayDigest page_times;   ///< from opening a page's connection to the last byte of its last object
  std::uint64_t fetches = 0;
  std::uint64_t failures = 0;   ///< connections that did not end well
  std::uint64_t corrupted = 0;  ///< pieces of payload that were not what they should have been
  Instant count_from{};         ///< fetches and pages begun before are not counted
};

}  // namespace sluice::emulator
