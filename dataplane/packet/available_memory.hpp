#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sluice::packet {

/// Bytes of memory that this process can still touch before the kernel has to end somebody: what the machine has
/// available with its swap space, or what the process's control group (cgroup v2, and those above it) has left, if that
/// is less. Nothing where the kernel does not tell. `root` is where /proc and /sys are found.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace sluice::packet
