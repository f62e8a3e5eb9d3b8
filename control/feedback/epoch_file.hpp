#pragma once

#include <cstdint>
#include <string>

namespace sluice::control::feedback {

/// Returns the epoch of a sender that starts now and keeps its epochs in a file: greater than the stored one, even if
/// the clock has gone back (see next_epoch()). The epoch is on disk before this returns; a missing file is created.
/// Throws std::runtime_error if the file cannot be read or written, or contains other data.
[[nodiscard]] std::uint64_t begin_epoch(const std::string& file, std::uint64_t wall_clock_ns);

}  // namespace sluice::control::feedback
