#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sluice::capture {

/// What has been read.
struct Recovered {
  std::size_t frames = 0;
  std::uint64_t nanoseconds = 0;  ///< from the first to the last of them
};

/// Reads the file that a RingFile was, and hands it to `write` as pcapng, in the order of time and in parts. Nothing in
/// it is believed but what makes sense. Throws std::runtime_error saying why it cannot be read, as while the program
/// that writes it still runs.
[[nodiscard]] Recovered recover(const std::string& path, const std::function<void(std::string_view)>& write);

}  // namespace sluice::capture
