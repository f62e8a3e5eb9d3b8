#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/report/delay_digest.hpp"

namespace sluice::emulator {

/// The ends of a connection, as its client has them.
struct FlowEnds {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  auto operator<=>(const FlowEnds&) const = default;
};

/// What TCP did at one end of a connection.
struct EndRecord {
  std::uint64_t retransmitted = 0;  ///< segments
  std::uint64_t timeouts = 0;
  Duration srtt{};
};

/// How evenly a transfer goes: its bytes second by second.
class RateSpread {
 public:
  /// `fresh` bytes have come at `now`, which never goes back. The seconds in which the first and the last came do not
  /// count.
  void add(std::uint64_t fresh, Instant now);
  /// Standard deviation over mean; nothing with fewer than two whole seconds.
  [[nodiscard]] std::optional<double> variation() const;

 private:
  static constexpr std::int64_t not_begun = -1;
  std::int64_t second_ = not_begun;  ///< that runs
  std::uint64_t in_it_ = 0;
  bool first_ = true;
  double seconds_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// What became of one connection, as its client saw it.
struct FlowRecord {
  std::string application;  ///< "bulk", "web", …
  FlowEnds ends;
  bool upload = false;
  Instant opened = never;      ///< SYN sent
  Instant connected = never;   ///< handshake complete
  Instant finished = never;    ///< last byte, or the end of the connection
  std::uint64_t bytes = 0;     ///< of payload, received or acknowledged
  std::uint64_t measured = 0;  ///< of a bulk transfer: of these bytes, those from FlowLog::count_from on
  std::uint64_t corrupted = 0;
  RateSpread spread;  ///< of a bulk download, from FlowLog::count_from on
  EndRecord client;
  tcp::CloseReason reason = tcp::CloseReason::none;  ///< none: it was running when the run ended

  void set_ends(const packet::Addresses& ours) { ends = {ours.src, ours.dst, ours.src_port, ours.dst_port}; }
  void take_counters(const tcp::Endpoint& endpoint) {
    client = {endpoint.counters().retransmitted, endpoint.counters().timeouts, endpoint.srtt()};
    reason = endpoint.close_reason();
  }
};

/// What videos were like. Starts count that were begun after FlowLog::count_from, the rest from then on.
struct VideoLog {
  DelayDigest starts;  ///< from the SYN to the last byte of the first segment
  std::uint64_t stalls = 0;
  Duration stalled{};  ///< all of them together
  std::uint64_t segments = 0;
  double bit_rates_bps = 0;    ///< of these, the sum
  std::uint64_t switches = 0;  ///< of the bit rate
};

/// Datagrams that one side sends and the other receives, from FlowLog::count_from on.
struct DatagramLog {
  DelayDigest delays;  ///< one way
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
};

/// How long probes of responsiveness took.
struct ResponsivenessLog {
  std::vector<Duration> handshakes;  ///< of fresh connections
  std::vector<Duration> answers;     ///< on fresh connections, from the request on
  std::vector<Duration> kept;        ///< on those that stay
};

/// What the applications of a run came to.
struct FlowLog {
  std::vector<FlowRecord> flows;
  DelayDigest fetch_times;  ///< from asking for an object to its last byte
  DelayDigest page_times;   ///< from opening a page's connection to the last byte of its last object
  VideoLog video;
  DatagramLog game;  ///< towards the UEs
  ResponsivenessLog responsiveness;
  std::uint64_t fetches = 0;
  std::uint64_t failures = 0;   ///< connections that did not end well
  std::uint64_t corrupted = 0;  ///< pieces of payload that were not what they should have been
  Instant count_from{};         ///< fetches and pages begun before are not counted
};

}  // namespace sluice::emulator
