#include "emulator/runtime/run_pool.hpp"

namespace sluice::emulator {
namespace {

constexpr const char* raise_buffers =
    ", so they would limit the result: expected a higher value of buffers in the scenario, for up to two per packet "
    "that a host, the proxy or a queue holds";

}  // namespace

void RunPool::require_enough() const {
  const packet::Shortage shortage = buffers_.shortage();
  if (shortage == packet::Shortage::none) return;
  const std::string all = "all " + std::to_string(made()) + " packet buffers are in use";
  if (shortage == packet::Shortage::limit) throw BuffersExhausted(all + raise_buffers);
  throw BuffersExhausted(all + ", and this machine (or this control group) has " +
                         std::to_string(buffers_.memory_left() >> 20U) +
                         " MiB left for more: expected more memory, or fewer runs at a time (--workers)");
}

void RunPool::require_enough_for(std::uint64_t changes) const {
  const std::uint32_t limit = buffers_.limit();
  if (changes == 0 || made() <= limit / 2) return;
  throw BuffersExhausted("more than half of " + std::to_string(limit) +
                         " packet buffers were in use, so the proxy limited windows" + raise_buffers);
}

}  // namespace sluice::emulator
