#include "proxy/daemon/runtime/resources.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <system_error>

#include "proxy/ops/admin/server.hpp"
#include "proxy/ops/http/http_server.hpp"

namespace sluice::proxy {
namespace {

/// Number of file descriptors that every configuration needs: C library, log, Asio, feedback socket, and DPDK's EAL
/// with its threads.
constexpr std::uint64_t of_the_program = 48;
/// Number of file descriptors that one queue of a port needs: sockets, events and rings of the driver.
constexpr std::uint64_t per_queue = 8;
constexpr std::uint64_t ports = 2;

}  // namespace

std::uint64_t descriptors_for(const Config& config) {
  const std::uint64_t browsers =
      config.metrics.listen ? http::HttpLimits{}.connections + http::EventLimits{}.clients : 0;
  return of_the_program + admin::ServerLimits{}.connections + browsers + ports * per_queue * config.shards.count;
}

void require_descriptors(const Config& config) {
  const std::uint64_t needed = descriptors_for(config);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
  const bool raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (raised && limit.rlim_cur >= needed) return;
  throw std::runtime_error("too few file descriptors: this configuration may need " + std::to_string(needed) +
                           " and the limit is " + std::to_string(limit.rlim_max) + "; raise it (ulimit -n " +
                           std::to_string(needed) + ", or LimitNOFILE= of the service), or lower shards.count");
}

std::string explain(const std::exception& problem, const Config& config) {
  if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr) {
    return "not enough memory to start: tables for " + std::to_string(config.shard.limits.max_flows) +
           " connections and " + std::to_string(config.shard.limits.max_bearers) + " UEs in each of " +
           std::to_string(config.shards.count) + " shard(s), beside " + std::to_string(config.pool.buffers) +
           " packet buffers; lower limits.max_flows, limits.max_bearers or pool.buffers, or allow the program more "
           "(ulimit "
           "-v, MemoryMax= of the service)";
  }
  const auto* system = dynamic_cast<const std::system_error*>(&problem);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return std::string("a thread cannot be started: ") + problem.what() +
           "; allow the program more of them (ulimit -u, TasksMax= of the service)";
  }
  return problem.what();
}

}  // namespace sluice::proxy
