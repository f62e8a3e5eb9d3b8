#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sluice::packet {

/// Returns the bytes of memory that this process can still touch before the kernel kills a process: MemAvailable plus
/// free swap. The limit of the process's cgroup (v2, and its parents) applies if less is left there. Returns nothing if
/// the kernel provides no figures. `root` is where /proc and /sys are found.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace sluice::packet
