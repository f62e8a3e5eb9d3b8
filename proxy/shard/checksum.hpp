#pragma once

#include "dataplane/packet/parse.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/counters.hpp"

namespace sluice::proxy {

/// Whether a segment of a split connection is taken with this checksum; where not, or only because its kernel left the
/// checksum to an offload, that is counted.
[[nodiscard]] inline bool accept_checksum(const ShardConfig& config, Counters& counters, Side in,
                                          packet::ChecksumState state) {
  if (state == packet::ChecksumState::good) [[likely]]
    return true;
  if (state == packet::ChecksumState::bad) {
    counters.add(Counter::drop_tcp_checksum);
    return false;
  }
  if (!config.accepts_partial_checksums(in)) {
    counters.add(Counter::drop_partial_checksum);
    return false;
  }
  counters.add(Counter::rx_partial_checksum);
  return true;
}

/// Whether what passes is damaged, and teaches nothing. A segment whose checksum was left to an offload is, where such
/// are not taken: a connection whose data would be dropped is not split.
[[nodiscard]] inline bool is_damaged(const ShardConfig& config, Side in, const packet::Packet& packet,
                                     const packet::Parsed& parsed) {
  switch (packet::verify_tcp_checksum(packet, parsed)) {
    case packet::ChecksumState::good:
      return false;
    case packet::ChecksumState::partial:
      return !config.accepts_partial_checksums(in);
    case packet::ChecksumState::bad:
      break;
  }
  return true;
}

}  // namespace sluice::proxy
