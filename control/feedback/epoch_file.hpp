#pragma once

#include <cstdint>
#include <string>

namespace sluice::control::feedback {

/// Returns the epoch for a sender that starts now, and stores it in `file` before returning. The epoch is
/// `wall_clock_ns`, the time in nanoseconds since 1970. If the stored epoch is not smaller, because the clock has gone
/// back, it is the stored one plus one. A missing file is created. Throws std::runtime_error if the file cannot be read
/// or written, or contains other data.
[[nodiscard]] std::uint64_t begin_epoch(const std::string& file, std::uint64_t wall_clock_ns);

}  // namespace sluice::control::feedback
