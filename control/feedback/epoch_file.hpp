#pragma once

#include <cstdint>
#include <string>

namespace sluice::control::feedback {

/// The epoch for a sender that starts now and keeps its epochs in a file: greater than the one found there, even when
/// the clock has gone back since, see next_epoch(). It is in the file, on disk, before this returns; a file that is not
/// there yet is made. Throws std::runtime_error when the file cannot be read or written, or holds something else.
[[nodiscard]] std::uint64_t begin_epoch(const std::string& file, std::uint64_t wall_clock_ns);

}  // namespace sluice::control::feedback
