#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice::capture {

/// Counts of a recovery of last frames from a file.
struct Recovered {
  std::size_t frames = 0;
  std::uint64_t nanoseconds = 0;  ///< time from the first to the last recovered frame
};

/// Reads a file that RingFile wrote and passes it to `write` as pcapng, in order of time and in parts. Every field is
/// checked before use. Throws std::runtime_error with the reason if the file cannot be read, for example while the
/// program that writes it runs.
[[nodiscard]] Recovered recover(const std::string& path, const std::function<void(std::string_view)>& write);

}  // namespace sluice::capture
