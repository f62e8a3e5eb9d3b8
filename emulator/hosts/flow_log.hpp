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

/// Addresses and ports of both ends of a connection, as the client sees them.
struct FlowEnds {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  auto operator<=>(const FlowEnds&) const = default;
};

/// TCP statistics of one end of a connection.
struct EndRecord {
  std::uint64_t retransmitted = 0;  ///< retransmitted segments
  std::uint64_t timeouts = 0;
  Duration srtt{};
};

/// Measures how much the rate of a transfer varies from second to second.
class RateSpread {
 public:
  /// Adds `fresh`, the number of bytes received at `now`; `now` must not decrease. Only whole seconds count, so the
  /// seconds that contain the first and the last byte do not.
  void add(std::uint64_t fresh, Instant now);
  /// Returns the standard deviation of the rate divided by its mean. Returns nothing if there are fewer than two whole
  /// seconds.
  [[nodiscard]] std::optional<double> variation() const;

 private:
  static constexpr std::int64_t not_begun = -1;
  /// Number of the second (since the event loop's origin) in which bytes are counted at present.
  std::int64_t second_ = not_begun;
  std::uint64_t in_it_ = 0;
  bool first_ = true;
  double seconds_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// Record of one connection, from the client's view.
struct FlowRecord {
  std::string application;  ///< application name, such as "bulk" or "web"
  FlowEnds ends;
  bool upload = false;
  Instant opened = never;     ///< time of the SYN
  Instant connected = never;  ///< time at which the handshake was complete
  Instant finished = never;   ///< time of the last byte, or of the end of the connection or of the run
  std::uint64_t bytes = 0;    ///< payload bytes that the client received (download) or the server acknowledged (upload)
  std::uint64_t measured = 0;  ///< payload bytes of a bulk transfer after the time FlowLog::count_from
  std::uint64_t corrupted = 0;
  RateSpread spread;  ///< variation of a bulk download's rate after the time FlowLog::count_from
  EndRecord client;
  /// Reason why the connection was closed; `none` if it was open when the run ended.
  tcp::CloseReason reason = tcp::CloseReason::none;

  void set_ends(const packet::Addresses& ours) { ends = {ours.src, ours.dst, ours.src_port, ours.dst_port}; }
  void take_counters(const tcp::Endpoint& endpoint) {
    client = {endpoint.counters().retransmitted, endpoint.counters().timeouts, endpoint.srtt()};
    reason = endpoint.close_reason();
  }
};

/// Metrics of video quality. Startup delays are included for sessions that started after FlowLog::count_from. All other
/// metrics only cover the time after FlowLog::count_from.
struct VideoLog {
  DelayDigest starts;  ///< startup delay, from the SYN to the last byte of the first video segment
  std::uint64_t stalls = 0;
  Duration stalled{};  ///< total stall time
  std::uint64_t segments = 0;
  double bit_rates_bps = 0;    ///< sum of the bit rates of all segments, from which the mean bit rate is computed
  std::uint64_t switches = 0;  ///< number of bit rate changes
};

/// Log of the datagrams in one direction that were sent after the time FlowLog::count_from.
struct DatagramLog {
  DelayDigest delays;  ///< one-way delay
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
};

/// Response times of responsiveness probes.
struct ResponsivenessLog {
  std::vector<Duration> handshakes;  ///< handshake times of connections opened for one probe
  std::vector<Duration> answers;     ///< times from the request to the response on connections opened for one probe
  std::vector<Duration> kept;        ///< response times of requests on persistent connections
};

/// Results of all applications of a run.
struct FlowLog {
  std::vector<FlowRecord> flows;
  /// Fetch times: from the request to the last byte. For short flows and the first object of a page, from the SYN to
  /// the last byte.
  DelayDigest fetch_times;
  /// Times from the start of the connection of a page to the last byte of the page's last object.
  DelayDigest page_times;
  VideoLog video;
  DatagramLog game;  ///< log of the game datagrams towards the UEs
  ResponsivenessLog responsiveness;
  std::uint64_t fetches = 0;
  std::uint64_t failures = 0;   ///< connections that ended before their transfer was complete
  std::uint64_t corrupted = 0;  ///< pieces of payload that did not match the expected pattern
  Instant count_from{};         ///< start of the measurement; earlier fetches and pages are not recorded
};

}  // namespace sluice::emulator
