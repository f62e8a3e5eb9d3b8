#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sluice::packet {

/// Returns the bytes of memory that this process can still use before the kernel kills a process. This is MemAvailable
/// plus free swap. If the limit of the process's cgroup (v2) or of one of its parents leaves less, that smaller number
/// is returned. Returns nothing if the kernel provides no figures. `root` is the directory that contains /proc and
/// /sys.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace sluice::packet
