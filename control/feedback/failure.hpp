#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::control::feedback {

/// Table of the reasons for which a datagram is refused: X(name, text). A datagram refused for a reason up to `bad_tag`
/// is not authenticated. Later reasons apply to authenticated datagrams only.
#define SLUICE_FEEDBACK_FAILURES(X)                                                                      \
  X(none, "accepted")                                                                                    \
  X(too_short, "shorter than a header and a tag")                                                        \
  X(too_long, "longer than a datagram of this protocol may be")                                          \
  X(bad_magic, "does not begin with the protocol's magic number")                                        \
  X(unknown_version, "a version that this program does not support")                                     \
  X(unknown_key, "names a key that is not configured")                                                   \
  X(bad_tag, "the authentication tag does not match")                                                    \
  X(unexpected_type, "a message type that this side does not accept")                                    \
  X(own_sender, "carries this program's own sender id")                                                  \
  X(malformed_header, "the header's lengths or numbers are impossible")                                  \
  X(too_many_senders, "more senders than can be tracked")                                                \
  X(stale_epoch, "from an epoch before the sender's newest")                                             \
  X(epoch_ahead, "from an epoch far ahead of this machine's clock, while its sender uses another epoch") \
  X(replayed, "a sequence number seen before, or too old to check")                                      \
  X(malformed_record, "a record runs past the end, or the count does not match")                         \
  X(malformed_field, "a field runs past its record, has an impossible length, or repeats")               \
  X(missing_address, "a record without the UE's address")                                                \
  X(value_out_of_range, "a value beyond what its field may hold")

enum class Failure : std::uint8_t {
#define X(name, text) name,
  SLUICE_FEEDBACK_FAILURES(X)
#undef X
};

inline constexpr std::size_t failure_count = 0
#define X(name, text) +1
    SLUICE_FEEDBACK_FAILURES(X)
#undef X
    ;

/// Returns the name of a reason as written in the table, for metrics.
[[nodiscard]] constexpr std::string_view name_of(Failure failure) {
  switch (failure) {
#define X(name, text) \
  case Failure::name: \
    return #name;
    SLUICE_FEEDBACK_FAILURES(X)
#undef X
  }
  return "unknown";
}

/// Returns a sentence that describes a reason for the log.
[[nodiscard]] constexpr std::string_view text_of(Failure failure) {
  switch (failure) {
#define X(name, text) \
  case Failure::name: \
    return text;
    SLUICE_FEEDBACK_FAILURES(X)
#undef X
  }
  return "unknown";
}

/// Number of datagrams by Failure: index 0 counts accepted datagrams, every other index those refused for that reason.
using FailureCounters = std::array<std::uint64_t, failure_count>;

}  // namespace sluice::control::feedback
