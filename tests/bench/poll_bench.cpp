// What the adaptive poll policy costs when nothing happens, and how late it makes the first packet.
// poll_bench [SECONDS [POLLED_DEVICE SENDING_DEVICE [STEP_US]]]
// prints the share of a processor an idle poll thread takes and the lateness of single packets. Without devices: a ring
// back to ourselves, which cannot wake anybody. On a veth pair a,b: net_af_packet0,iface=a net_af_packet1,iface=b
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"

namespace {

using namespace sluice;

struct Result {
  double share = 0;  ///< share of a processor, 0 … 1
  std::vector<double> lateness_us;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A poll thread's loop; the bytes of each packet say when it was sent.
Result poll(dpdk::Port& port, dpdk::PollMode mode, Duration step, const std::atomic<bool>& stop) {
  const dpdk::ThreadRegistration registration;
  dpdk::PollPolicy policy(mode, step);
  policy.watch(port.readiness_descriptor(0));
  policy.prepare_thread();
  Result result;
  const Instant begin = dpdk::now();
  const double used = processor_seconds();
  std::array<packet::Packet, 32> burst;
  while (!stop) {
    const Instant now = dpdk::now();
    const std::size_t count = port.receive(0, burst);
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t sent = 0;
      if (burst[i].size() >= 22) std::copy_n(burst[i].data() + 14, sizeof sent, reinterpret_cast<std::uint8_t*>(&sent));
      const Duration late = dpdk::now().time_since_epoch() - Duration(sent);
      if (late < std::chrono::seconds(1)) result.lateness_us.push_back(to_seconds(late) * 1e6);
      burst[i].reset();
    }
    policy.rest(count > 0, now, never);
  }
  result.share = (processor_seconds() - used) / to_seconds(dpdk::now() - begin);
  return result;
}

/// Sends single packets at random moments, so that the poll thread has gone to sleep before each.
void send_singles(dpdk::Port& port, packet::PacketPool& pool, Instant end) {
  std::mt19937 random(1);
  while (dpdk::now() < end) {
    usleep(static_cast<useconds_t>(2000 + random() % 1000));
    packet::Packet packet = pool.allocate();
    const std::int64_t present = dpdk::now().time_since_epoch().count();
    std::uint8_t* const frame = std::fill_n(packet.append(64), 12, std::uint8_t{2});
    frame[0] = 0x88;  // an EtherType for local experiments: 0x88b5
    frame[1] = 0xb5;
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&present), sizeof present, frame + 2);
    port.transmit(0, {&packet, 1});
  }
}

Result run(dpdk::Port& polled, dpdk::Port* sender, packet::PacketPool& pool, dpdk::PollMode mode, Duration step,
           Duration length) {
  std::atomic<bool> stop{false};
  Result result;
  std::thread poller([&] { result = poll(polled, mode, step, stop); });
  const Instant end = dpdk::now() + length;
  if (sender != nullptr) {
    send_singles(*sender, pool, end);
  } else {
    std::this_thread::sleep_for(length);
  }
  stop = true;
  poller.join();
  std::sort(result.lateness_us.begin(), result.lateness_us.end());
  return result;
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const Duration length = std::chrono::seconds(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 3);
  const Duration step =
      argc > 4 ? std::chrono::microseconds(std::max(std::atoi(argv[4]), 1)) : dpdk::PollPolicy::default_step;
  dpdk::EalConfig eal_config;
  eal_config.memory_mib = 64;
  const dpdk::Eal eal(eal_config);
  packet::PacketPool pool("poll", 8192);
  dpdk::PortConfig config;
  config.fix_offloads = true;
  config.device = argc > 3 ? argv[2] : "net_ring0";  // what is sent on a ring comes back on it
  dpdk::Port polled(config, pool);
  std::optional<dpdk::Port> other;
  if (argc > 3) {
    config.device = argv[3];
    other.emplace(config, pool);
  }
  dpdk::Port& sender = other ? *other : polled;

  const Result idle = run(polled, nullptr, pool, dpdk::PollMode::adaptive, step, length);
  std::printf("adaptive, idle:    %5.2f %% of a processor\n", idle.share * 100);
  for (const auto& [name, mode] :
       {std::pair("adaptive", dpdk::PollMode::adaptive), std::pair("busy", dpdk::PollMode::busy)}) {
    const Result result = run(polled, &sender, pool, mode, step, length);
    std::printf(
        "%-9s singles:  %5.2f %% of a processor; lateness p50 %.1f us, p99 %.1f us, max %.1f us of %zu packets\n", name,
        result.share * 100, quantile(result.lateness_us, 0.5), quantile(result.lateness_us, 0.99),
        quantile(result.lateness_us, 1), result.lateness_us.size());
  }
  return 0;
}
