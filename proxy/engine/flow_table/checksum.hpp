#pragma once

#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// True if a segment that arrived on `in` may be accepted with this checksum state. An unfinished checksum (left to an
/// offload) is accepted only if the port is configured to accept such checksums. In addition `shown` must be true: the
/// host's SYN had an unfinished checksum too. The reason is that a damaged segment could contain the value of an
/// unfinished checksum by chance. If the device vouches for the data (ChecksumState::partial_verified), `shown` does
/// not matter.
[[nodiscard]] inline bool is_acceptable(const ShardConfig& config, Side in, packet::ChecksumState state, bool shown) {
  switch (state) {
    case packet::ChecksumState::good:
      return true;
    case packet::ChecksumState::partial:
      return shown && config.accepts_partial_checksums(in);
    case packet::ChecksumState::partial_verified:
      return config.accepts_partial_checksums(in);
    case packet::ChecksumState::bad:
      break;
  }
  return false;
}

/// Counts a segment whose checksum is wrong or unfinished. Returns true if the segment is accepted nevertheless,
/// because is_acceptable() allows its unfinished checksum. `shown` is true if the host's SYN had an unfinished
/// checksum, too.
[[nodiscard, gnu::cold, gnu::noinline]] inline bool accept_unfinished(const ShardConfig& config, Counters& counters,
                                                                      Side in, packet::ChecksumState state,
                                                                      bool shown) {
  if (state == packet::ChecksumState::bad) {
    counters.add(Counter::drop_tcp_checksum);
    return false;
  }
  const bool acceptable = is_acceptable(config, in, state, shown);
  counters.add(acceptable ? Counter::rx_partial_checksum : Counter::drop_partial_checksum);
  return acceptable;
}

/// True if a segment of a split connection is accepted with this checksum state. Counts a segment that is rejected, or
/// that is accepted with an unfinished checksum. `shown` records whether the host's SYN had an unfinished checksum.
[[nodiscard]] inline bool accept_checksum(const ShardConfig& config, Counters& counters, Side in,
                                          packet::ChecksumState state, const Handshake& shown) {
  if (state == packet::ChecksumState::good) [[likely]]
    return true;
  return accept_unfinished(config, counters, in, state, shown.leaves_unfinished(in));
}

/// True if a forwarded segment counts as damaged, so that its contents must not change any state. A wrong checksum
/// always counts as damage. An unfinished one does if the port is not configured to accept it. It also does if `shown`
/// is false, the segment is no SYN, and the device does not vouch for the data. `shown` is true if the host's SYN had
/// an unfinished checksum.
[[nodiscard]] inline bool is_damaged(const ShardConfig& config, Side in, const packet::Packet& packet,
                                     const packet::Parsed& parsed, bool shown) {
  const packet::ChecksumState state = packet::verify_tcp_checksum(packet, parsed);
  return !is_acceptable(config, in, state, shown || parsed.segment.flags.syn());
}

/// True if the sender's kernel left the checksum of the segment unfinished for an offload.
[[nodiscard]] inline bool is_unfinished(const packet::Packet& packet, const packet::Parsed& parsed) {
  const packet::ChecksumState state = packet::verify_tcp_checksum(packet, parsed);
  return state == packet::ChecksumState::partial || state == packet::ChecksumState::partial_verified;
}

}  // namespace sluice::proxy
