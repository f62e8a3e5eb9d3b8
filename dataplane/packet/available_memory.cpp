#include "dataplane/packet/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace sluice::packet {
namespace {

/// Returns the number in a file of the kernel; nothing if the file contains "max" or does not exist.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

/// Returns MemAvailable plus SwapFree of /proc/meminfo in bytes; its lines read "MemAvailable: 1234 kB".
std::optional<std::uint64_t> machine_memory(const std::filesystem::path& root) {
  std::ifstream stream(root / "proc/meminfo");
  std::optional<std::uint64_t> available;
  std::uint64_t swap = 0;
  std::string name, rest;
  std::uint64_t kibibytes = 0;
  while (stream >> name >> kibibytes && std::getline(stream, rest)) {
    if (name == "MemAvailable:") available = kibibytes * 1024;
    if (name == "SwapFree:") swap = kibibytes * 1024;
  }
  if (available) *available += swap;
  return available;
}

/// Returns the cgroup v2 of this process, from the line "0::" of /proc/self/cgroup.
std::optional<std::filesystem::path> control_group(const std::filesystem::path& root) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("0::/")) return std::filesystem::path(line.substr(4));
  }
  return std::nullopt;
}

/// Returns the smaller of two optional numbers; the one that exists if the other does not.
std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

}  // namespace

std::optional<std::uint64_t> available_memory(const std::filesystem::path& root) {
  std::optional<std::uint64_t> least = machine_memory(root);
  const std::optional<std::filesystem::path> group = control_group(root);
  if (!group) return least;
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  for (std::filesystem::path path = *group;; path = path.parent_path()) {
    const auto limit = number_in(groups / path / "memory.max");
    const auto used = number_in(groups / path / "memory.current");
    if (limit && used) least = smaller(least, *limit - std::min(*limit, *used));
    if (path.empty()) return least;
  }
}

}  // namespace sluice::packet
