#pragma once

#include "dataplane/packet/parse.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/shard/counters.hpp"

namespace sluice::proxy {

/// Returns whether a checksum that is not finished is as good as a right one. Where the device reports that the data is
/// right, the port decides. Otherwise the field is only what a kernel would have left there, which a damaged segment
/// can have by chance: the host must have `shown` that it leaves checksums unfinished.
[[nodiscard]] inline bool is_acceptable(const ShardConfig& config, Side in, packet::ChecksumState state, bool shown) {
  switch (state) {
    case packet::ChecksumState::good:
      return true;
    case packet::ChecksumState::partial:
      return shown && config.accepts_partial_checksums(in);
    case packet::ChecksumState::vouched:
      return config.accepts_partial_checksums(in);
    case packet::ChecksumState::bad:
      break;
  }
  return false;
}

/// Counts a checksum that is not right, and returns is_acceptable() of it.
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

/// Returns whether a segment of a connection is taken with this checksum. Where it is not, or only because its kernel
/// left the checksum to an offload, that is counted. The handshake has `shown` whether its host leaves them unfinished.
[[nodiscard]] inline bool accept_checksum(const ShardConfig& config, Counters& counters, Side in,
                                          packet::ChecksumState state, const Handshake& shown) {
  if (state == packet::ChecksumState::good) [[likely]]
    return true;
  return accept_unfinished(config, counters, in, state, shown.leaves_unfinished(in));
}

/// Returns whether what passes is damaged, so that nothing may be learned from it. A SYN or SYN-ACK shows by itself
/// that its host leaves checksums unfinished; for any other segment its host must have `shown` it. Where the port takes
/// none, such a segment is damaged: a connection whose data would be dropped is not split.
[[nodiscard]] inline bool is_damaged(const ShardConfig& config, Side in, const packet::Packet& packet,
                                     const packet::Parsed& parsed, bool shown) {
  const packet::ChecksumState state = packet::verify_tcp_checksum(packet, parsed);
  return !is_acceptable(config, in, state, shown || parsed.segment.flags.syn());
}

/// Returns whether the sender's kernel left the segment's checksum unfinished for an offload.
[[nodiscard]] inline bool is_unfinished(const packet::Packet& packet, const packet::Parsed& parsed) {
  const packet::ChecksumState state = packet::verify_tcp_checksum(packet, parsed);
  return state == packet::ChecksumState::partial || state == packet::ChecksumState::vouched;
}

}  // namespace sluice::proxy
