#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// File descriptors that a program with this configuration may have open at once, generously counted.
[[nodiscard]] std::uint64_t descriptors_for(const Config& config);

/// Raises the process's own limit of open files as far as it may where descriptors_for() is more. Throws
/// std::runtime_error with what to do when that does not suffice: DPDK aborts the process when it finds none.
void require_descriptors(const Config& config);

/// Returns what of this machine keeps the ports' kernel interfaces from being served, as far as the kernel can be
/// asked. An interface that is not there counts as right: the file may be meant for another machine.
[[nodiscard]] std::vector<std::string> port_obstacles(const Config& config);

/// Why the start failed, with what to do where the system has run out of something.
[[nodiscard]] std::string explain(const std::exception& problem, const Config& config);

}  // namespace sluice::proxy
