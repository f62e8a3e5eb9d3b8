#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// Returns an upper bound on the number of file descriptors that a program with this configuration opens.
[[nodiscard]] std::uint64_t descriptors_for(const Config& config);

/// Raises the process's limit of open files to descriptors_for(), or as far as the hard limit allows. Throws
/// std::runtime_error with advice if the limit remains too low, because DPDK aborts the process when it runs out of
/// descriptors.
void require_descriptors(const Config& config);

/// Returns a text that explains why the start failed. The text contains advice if a resource of the system is
/// exhausted.
[[nodiscard]] std::string explain(const std::exception& problem, const Config& config);

}  // namespace sluice::proxy
