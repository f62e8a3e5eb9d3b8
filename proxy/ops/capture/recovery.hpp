#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice::capture {

/// Counts of the frames that were recovered from a file of last frames.
struct Recovered {
  std::size_t frames = 0;
  std::uint64_t nanoseconds = 0;  ///< time between the first and the last recovered frame, in nanoseconds
};

/// Reads a file of last frames that RingFile wrote. Passes the frames to `write` as parts of a pcapng capture, in order
/// of time. Checks every field before using it. Throws std::runtime_error with the reason if the file cannot be read,
/// for example because the program that writes it is running.
[[nodiscard]] Recovered recover(const std::string& path, const std::function<void(std::string_view)>& write);

}  // namespace sluice::capture
