// A wire with delay, a rate, loss and reordering between two ports, in real time: the path of the goodput grid.
// impaired_wire CORE_DEVICE RADIO_DEVICE LOSS REORDER RTT_MS RATE_MBPS SEED
// LOSS and REORDER: shares (0 … 1) of the frames towards the UEs that are lost, or held back for 5 ms. Everything
// random comes from the seed. Ends with SIGTERM; prints what it did to the frames.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/random.hpp"
#include "emulator/runtime/live_port.hpp"

namespace {

using namespace sluice;

volatile std::sig_atomic_t stopped = 0;  // NOLINT: the only thing a signal handler may touch

struct Options {
  std::string down_from, up_from;  ///< devices: towards the servers and towards the UEs
  double loss = 0;
  double reorder = 0;
  double rtt_ms = 20;
  double reorder_ms = 5;
  double rate_mbps = 50;
  std::uint64_t seed = 1;
};

Duration milliseconds(double count) {
  return Duration(static_cast<std::int64_t>(count * 1e6));
}

dpdk::PortConfig port_config(const std::string& device, dpdk::Facing facing) {
  dpdk::PortConfig config;
  config.device = device;
  config.facing = facing;
  return config;
}

/// Frames of one direction: impaired, then a line of limited rate, then the port they leave by.
struct Direction {
  Direction(emulator::EventLoop& loop, packet::PacketPool& pool, const Options& options, bool impaired,
            std::string_view name, emulator::Element& out)
      : line(loop, line_config(options), out),
        impairment(loop, pool, impaired ? impairment_config(options) : emulator::ImpairmentConfig{},
                   emulator::Random::stream(options.seed, name), line) {}

  /// Half the round-trip time, and a buffer of one round trip at the line's rate, at least 64 KiB.
  static emulator::DelayLineConfig line_config(const Options& options) {
    const double in_flight = options.rate_mbps * 1e6 / 8 * options.rtt_ms * 1e-3;
    return {milliseconds(options.rtt_ms / 2), Rate::bits_per_second(options.rate_mbps * 1e6),
            Bytes(std::max(in_flight, 65'536.0))};
  }
  static emulator::ImpairmentConfig impairment_config(const Options& options) {
    emulator::ImpairmentConfig config;
    config.loss = options.loss;
    config.reorder = options.reorder;
    config.reorder_delay = milliseconds(options.reorder_ms);
    return config;
  }

  emulator::DelayLine line;
  emulator::Impairment impairment;
};

void run(const Options& options) {
  dpdk::EalConfig eal_config;
  eal_config.program = "impaired_wire";
  const dpdk::Eal eal(eal_config);
  packet::PacketPool pool("packets", 32'768);
  dpdk::Port core(port_config(options.down_from, dpdk::Facing::core), pool);
  dpdk::Port radio(port_config(options.up_from, dpdk::Facing::radio), pool);
  emulator::EventLoop loop;
  // Each port's way in is the other direction's beginning, known once both exist.
  struct Way final : emulator::Element {
    emulator::Element* next = nullptr;
    void receive(packet::Packet packet, Instant now) override { next->receive(std::move(packet), now); }
  };
  Way from_core;
  Way from_radio;
  emulator::LivePort core_port(core, from_core);
  emulator::LivePort radio_port(radio, from_radio);
  loop.run_until(dpdk::now());
  Direction down(loop, pool, options, true, "down", radio_port);
  Direction up(loop, pool, options, false, "up", core_port);
  from_core.next = &down.impairment;
  from_radio.next = &up.impairment;
  dpdk::PollPolicy policy(dpdk::PollMode::adaptive);
  policy.watch(core.readiness_descriptor(0));
  policy.watch(radio.readiness_descriptor(0));
  policy.prepare_thread();
  std::printf("ready: %g %% lost, %g %% reordered, %g ms, %g Mb/s\n", options.loss * 100, options.reorder * 100,
              options.rtt_ms, options.rate_mbps);
  std::fflush(stdout);
  while (stopped == 0) {
    const Instant now = dpdk::now();
    const bool due = loop.next() <= now;
    loop.run_until(now);
    const std::size_t count = core_port.poll(now) + radio_port.poll(now);
    core_port.flush();
    radio_port.flush();
    policy.rest(due || count != 0, now, loop.next());
  }
  const emulator::ImpairmentCounters& done = down.impairment.counters();
  std::printf("down: %lu frames, %lu lost, %lu reordered, %lu found the buffer full\n", done.packets, done.lost,
              done.reordered, down.line.counters().dropped);
}

/// Throws std::invalid_argument, naming what was given.
double number(const char* text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || !(value >= least && value <= most)) {
    throw std::invalid_argument(std::string(text) + " is not a number of " + std::to_string(least) + " to " +
                                std::to_string(most));
  }
  return value;
}

Options read(char** arguments) {
  Options options;
  options.down_from = arguments[1];
  options.up_from = arguments[2];
  options.loss = number(arguments[3], 0, 1);
  options.reorder = number(arguments[4], 0, 1);
  options.rtt_ms = number(arguments[5], 0, 10'000);
  options.rate_mbps = number(arguments[6], 0.001, 100'000);
  options.seed = static_cast<std::uint64_t>(number(arguments[7], 0, 1e15));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: impaired_wire CORE_DEVICE RADIO_DEVICE LOSS REORDER RTT_MS RATE_MBPS SEED\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::signal(SIGINT, [](int) { stopped = 1; });
  try {
    run(read(argv));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "impaired_wire: %s\n", problem.what());
    return 1;
  }
  return 0;
}
