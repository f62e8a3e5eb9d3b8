#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects downloads by datagrams. A flow is one if the UE gets a hundred full-size datagrams of it within a second. A
/// keyed hash of the flow selects its entry in a small table. A flow replaces the flow that has used its entry before,
/// so two downloads that share an entry may not be found. Memory and work per datagram are constant. Thread: the
/// shard's.
class DatagramDownloads {
 public:
  /// Minimum IP length of a datagram that counts as full-size. QUIC requires a path that carries 1200 bytes of UDP
  /// payload (RFC 9000 section 14), so the largest datagrams of a download are not shorter.
  static constexpr Bytes full_size{1200};

  /// Counts a datagram of the flow to a UE. Returns true if the flow has become a download with this datagram.
  [[nodiscard]] bool on_datagram(flow::KeyTag flow, Bytes bytes, Instant now) {
    if (bytes < full_size) return false;
    Entry& entry = entry_of(flow);
    if (now < entry.excluded_until) return false;
    if (entry.flow != flow || now - entry.since > std::chrono::seconds(1)) {
      if (entry.flow != flow) entry = {};
      entry.flow = flow;
      entry.since = now;
      entry.datagrams = 0;
    }
    if (++entry.datagrams < download) return false;
    entry.datagrams = 0;
    return true;
  }
  /// Excludes a flow from the downloads for two minutes, because the UE's datagrams do not show what was delivered.
  /// Each further exclusion of the flow doubles that time, up to 32 minutes. Until then, flows that share its table
  /// entry are not found either.
  void exclude(flow::KeyTag flow, Instant now) {
    Entry& entry = entry_of(flow);
    const std::uint8_t times = entry.flow == flow ? entry.exclusions : std::uint8_t{0};
    constexpr std::uint8_t most = 4;
    entry = {.flow = flow,
             .excluded_until = now + std::chrono::minutes(2) * (1 << times),
             .exclusions = times < most ? static_cast<std::uint8_t>(times + 1) : most};
  }

 private:
  static constexpr std::size_t size = 1024;
  static constexpr std::uint16_t download = 100;
  struct Entry {
    flow::KeyTag flow{};
    std::uint16_t datagrams = 0;  ///< number of full-size datagrams of the flow since the time `since`
    Instant since{};
    Instant excluded_until{};
    std::uint8_t exclusions = 0;
  };
  [[nodiscard]] Entry& entry_of(flow::KeyTag flow) { return entries_[static_cast<std::uint32_t>(flow) % size]; }

  std::array<Entry, size> entries_{};
};

}  // namespace sluice::proxy
