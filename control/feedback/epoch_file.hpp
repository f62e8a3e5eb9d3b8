#pragma once

#include <cstdint>
#include <string>

namespace sluice::control::feedback {

/// Returns the epoch for a sender that starts now, and stores it in `file` before returning. The epoch is
/// `wall_clock_ns`, the time in nanoseconds since 1970, or more. The epoch is greater than the stored one, even if the
/// clock has gone back (see next_epoch()). A missing file is created. Throws std::runtime_error if the file cannot be
/// read or written, or contains other data.
[[nodiscard]] std::uint64_t begin_epoch(const std::string& file, std::uint64_t wall_clock_ns);

}  // namespace sluice::control::feedback
