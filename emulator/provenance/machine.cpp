#include "emulator/provenance/machine.hpp"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <fstream>

namespace sluice::emulator {
namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Machine this_machine() {
  Machine machine{"unknown", processor_model(), std::string("glibc ") + gnu_get_libc_version()};
  utsname name{};
  if (uname(&name) == 0) {
    machine.kernel = std::string(name.sysname) + ' ' + name.release + ' ' + name.version + ' ' + name.machine;
  }
  return machine;
}

}  // namespace sluice::emulator
