#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace sluice::test {

/// What the kernel reports in /proc/self/smaps about the mapping that contains an address.
struct Mapping {
  bool found = false;
  bool advised = false;  ///< true if huge pages are requested for it (VmFlags: hg)
  std::string file;      ///< name of the mapped file; empty for private memory without a file
};

/// Returns the mapping that contains `address`.
inline Mapping mapping_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  Mapping mapping;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      if (mapping.found) return mapping;
      if (wanted < begin || wanted >= end) continue;
      mapping.found = true;
      std::string permissions, offset, device, inode;
      words >> permissions >> offset >> device >> inode >> mapping.file;
    } else if (mapping.found && line.starts_with("VmFlags:")) {
      mapping.advised = (line + ' ').find(" hg ") != std::string::npos;
    }
  }
  return mapping;
}

}  // namespace sluice::test
