// Measures the cost of one relayed segment of 1448 bytes in the proxy. The cost includes the data segment from the
// core to the radio, the ACK to the server, the UE's ACK and all timers. Bursts have 32 packets in memory. Connections
// are split, end to end under a controller, or forwarded unchanged. Only cycles in Shard::receive, Shard::advance and
// Shard::on_report count, not those that build the traffic. Under callgrind (--toggle-collect on measured_receive,
// measured_advance and measured_report) the same binary counts instructions.

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/flow/key_store.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/bench/onlooker.hpp"
#include "tests/bench/relay_traffic.hpp"

namespace {

using namespace sluice;
using bench::burst_size;
using bench::Onlooker;
using bench::RelayTraffic;
using proxy::Side;
constexpr std::uint32_t packet_buffers = 131'072;
constexpr std::uint32_t max_shards = 64;

/// Bytes of memory that one idle, split connection takes where its UE has many, everything counted.
std::size_t memory_of_a_pair() {
  const std::size_t flow = flow::Slab<proxy::Flow>::stride();
  constexpr std::size_t table = 2 * 8 + flow::KeyStore::v4_bytes;  // two slots per flow, and the key
  constexpr std::size_t wheel = 16;
  return flow + table + wheel;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A relay configuration to measure: the proxy's mode and how it intercepts connections.
struct Case {
  const char* name;
  proxy::Mode mode;
  proxy::Intercept intercept;
  proxy::Counter counts;               ///< what shows that they are
  bool journal = false;                ///< notes what a later run must know (state.file)
  std::optional<Bytes> exposure = {};  ///< limits.exposure_per_flow
  proxy::ControllerLocation law = proxy::ControllerLocation::nodeb;
  Duration reports = std::chrono::seconds(60);  ///< interval of the reports of each UE; zero: none
  Onlooker::Looks looks = Onlooker::Looks::no;  ///< at headers only
  bench::Ues ues = {};
};
constexpr std::array cases = {
    Case{"split", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split},
    Case{"journal", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split, true},
    Case{"unexposed", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split, false, Bytes(0)},
    Case{"acks",
         proxy::Mode::smvs,
         proxy::Intercept::split,
         proxy::Counter::flows_split,
         false,
         {},
         proxy::ControllerLocation::acks,
         Duration::zero()},
    Case{.name = "drained",
         .mode = proxy::Mode::smvs,
         .intercept = proxy::Intercept::split,
         .counts = proxy::Counter::flows_split,
         .law = proxy::ControllerLocation::acks,
         .reports = Duration::zero(),
         .ues = {.round_trip = std::chrono::milliseconds(4), .acknowledge_each = true}},
    Case{.name = "drained-split",
         .mode = proxy::Mode::i_tcp,
         .intercept = proxy::Intercept::split,
         .counts = proxy::Counter::flows_split,
         .ues = {.round_trip = std::chrono::milliseconds(4), .acknowledge_each = true}},
    Case{"reported",
         proxy::Mode::smvs,
         proxy::Intercept::split,
         proxy::Counter::flows_split,
         false,
         {},
         proxy::ControllerLocation::nodeb,
         std::chrono::milliseconds(5)},
    Case{"regulate", proxy::Mode::clamp, proxy::Intercept::regulate, proxy::Counter::flows_regulated},
    Case{.name = "captured",
         .mode = proxy::Mode::i_tcp,
         .intercept = proxy::Intercept::split,
         .counts = proxy::Counter::flows_split,
         .looks = Onlooker::Looks::captures},
    Case{.name = "recorded",
         .mode = proxy::Mode::i_tcp,
         .intercept = proxy::Intercept::split,
         .counts = proxy::Counter::flows_split,
         .looks = Onlooker::Looks::records},
    Case{"bypass", proxy::Mode::bypass, proxy::Intercept::automatic, proxy::Counter::forward_bypass_mode},
};

const Case* find_case(const std::string& name) {
  const auto* const found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; });
  return found != cases.end() ? found : nullptr;
}

struct Size {
  int rounds = 20000;
  std::uint32_t flows = 1000;
  std::uint32_t gro_run = 1;
  std::uint32_t shards = 1;
  bench::Order order = bench::Order::grouped;
};

std::optional<bench::Order> find_order(const std::string& name) {
  if (name == "grouped") return bench::Order::grouped;
  if (name == "interleaved") return bench::Order::interleaved;
  if (name == "random") return bench::Order::random;
  return std::nullopt;
}

proxy::ShardConfig configuration(const Case& which, const Size& size) {
  proxy::ShardConfig config;
  config.mode = which.mode;
  config.intercept = which.intercept;
  config.smvs.law = which.law;
  config.limits.exposure_per_flow = which.exposure;
  config.limits.max_flows = std::max(config.limits.max_flows, size.flows + size.flows / 4);
  config.limits.max_bearers = std::max(config.limits.max_bearers, size.flows);
  return config;
}

void print(const char* what, std::vector<double> runs) {
  std::printf("%-36s%.0f (median of %zu runs; least %.0f, most %.0f)\n", what, median(runs), runs.size(),
              *std::min_element(runs.begin(), runs.end()), *std::max_element(runs.begin(), runs.end()));
}

/// Cycles of the whole for each relayed segment, and of that in timers and in reports, of several runs.
struct Runs {
  std::vector<double> whole;
  std::vector<double> timers;
  std::vector<double> reports;
};

Runs measure(RelayTraffic& bench, int rounds) {
  Runs runs;
  for (int run = 0; run < 9; ++run) {
    const bench::Cycles before = bench.cycles;
    const std::uint64_t segments = bench.segments;
    for (int i = 0; i < rounds / 9 + 1; ++i) bench.round(true);
    const auto per_segment = [&](std::uint64_t spent) {
      return static_cast<double>(spent) / static_cast<double>(bench.segments - segments);
    };
    const std::uint64_t timers = bench.cycles.advance - before.advance;
    const std::uint64_t reports = bench.cycles.report - before.report;
    runs.whole.push_back(per_segment(bench.cycles.receive - before.receive + timers + reports));
    runs.timers.push_back(per_segment(timers));
    runs.reports.push_back(per_segment(reports));
  }
  return runs;
}

/// What one shard has come to.
struct Outcome {
  Runs runs;
  std::uint64_t relayed = 0;
  std::uint64_t offered = 0;  ///< segments that servers had to send
  std::uint64_t acknowledged = 0;
  std::uint64_t reports = 0;
};

/// Whether the shard did what was to be measured.
bool is_sound(const RelayTraffic& bench, const Outcome& outcome) {
  // A law may send at the end what came before the beginning.
  if (outcome.relayed < bench.segments - bench.segments / 100 ||
      outcome.relayed > bench.segments + bench.segments / 100) {
    std::fprintf(stderr, "%llu segments offered, %llu relayed\n", static_cast<unsigned long long>(bench.segments),
                 static_cast<unsigned long long>(outcome.relayed));
    return false;
  }
  if (bench.lost != 0) {
    std::fprintf(stderr, "%llu frames were not captured\n", static_cast<unsigned long long>(bench.lost));
    return false;
  }
  return true;
}

/// One shard with its hosts. `ready` is called before what is measured begins.
template <typename Ready>
std::optional<Outcome> relay(const Case& which, const Size& size, packet::PacketPool& pool, const Ready& ready) {
  bench::Sink sink;
  const proxy::ShardConfig config = configuration(which, size);
  std::vector<proxy::JournalEntry> entries(which.journal ? config.limits.max_flows : 0);
  Onlooker onlooker(sink, which.looks);
  proxy::Transmitter& output = which.looks == Onlooker::Looks::no ? static_cast<proxy::Transmitter&>(sink) : onlooker;
  proxy::Shard shard(config, pool, output, {1, 2}, Instant{}, proxy::FlowJournal(entries));
  RelayTraffic bench(pool, shard, onlooker, sink, size.flows, size.gro_run, which.ues, size.order);
  if (which.reports > Duration::zero()) bench.report_every(which.reports);
  const bool intercepted = shard.counters()[which.counts] >= size.flows;
  if (!intercepted) std::fprintf(stderr, "the connections were not intercepted as wanted: %s\n", which.name);
  if (intercepted) bench.warm();
  ready();
  if (!intercepted) return std::nullopt;
  const std::uint64_t sent_before = sink.sent(Side::radio);
  const std::uint64_t acknowledged_before = sink.sent(Side::core);
  Outcome outcome{.runs = measure(bench, size.rounds), .reports = bench.reports};
  outcome.offered = static_cast<std::uint64_t>(size.rounds / 9 + 1) * 9 * burst_size;
  outcome.relayed = sink.sent(Side::radio) - sent_before;
  outcome.acknowledged = sink.sent(Side::core) - acknowledged_before;
  if (!is_sound(bench, outcome)) return std::nullopt;
  return outcome;
}

void print(const Outcome& outcome) {
  const auto relayed = static_cast<double>(outcome.relayed);
  std::printf("relayed segments                    %llu\n", static_cast<unsigned long long>(outcome.relayed));
  std::printf("share of what servers had to send   %.1f %%\n", 100.0 * relayed / static_cast<double>(outcome.offered));
  std::printf("acknowledgements per segment        %.2f\n", static_cast<double>(outcome.acknowledged) / relayed);
  print("cycles per relayed segment", outcome.runs.whole);
  print("  of these in timers", outcome.runs.timers);
  if (outcome.reports == 0) return;
  print("  of these in reports", outcome.runs.reports);
  std::printf("reports per segment                 %.2f\n", static_cast<double>(outcome.reports) / relayed);
}

/// Returns the cycles per segment of each of several shards that run at the same time on their own threads and
/// processors. Shards that did not finish are omitted.
std::vector<double> relay_together(const Case& which, const Size& size, packet::PacketPool& pool, unsigned shards) {
  std::vector<double> cycles;
  std::mutex mutex;
  std::barrier all_warm(static_cast<std::ptrdiff_t>(shards));
  std::vector<std::jthread> threads;
  for (unsigned cpu = 0; cpu < shards; ++cpu) {
    threads.emplace_back([&, cpu] {
      const dpdk::ThreadRegistration registration;
      if (!dpdk::pin_to_cpu(cpu)) std::fprintf(stderr, "there is no processor %u\n", cpu);
      const auto outcome = relay(which, size, pool, [&] { all_warm.arrive_and_wait(); });
      const std::lock_guard lock(mutex);
      if (outcome) cycles.push_back(median(outcome->runs.whole));
    });
  }
  threads.clear();
  return cycles;
}

/// How much more several shards relay than one, of one pool of buffers; each processor does what it does for one.
bool compare_shards(const Case& which, const Size& size, packet::PacketPool& pool) {
  const std::vector<double> alone = relay_together(which, size, pool, 1);
  const std::vector<double> together = relay_together(which, size, pool, size.shards);
  if (alone.empty() || together.size() != size.shards) return false;
  double times = 0;
  for (const double cycles : together) times += alone.front() / cycles;
  std::printf("cycles per relayed segment, alone   %.0f\n", alone.front());
  std::printf("  with %u shards, the slowest        %.0f\n", size.shards,
              *std::max_element(together.begin(), together.end()));
  std::printf("times what one shard relays         %.2f\n", times);
  return true;
}

/// Huge pages that are reserved and free, MiB.
std::uint32_t free_huge_memory() {
  std::uint32_t pages = 0;
  std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") >> pages;
  return 2 * pages;
}

bool is_valid(const Size& size) {
  return size.rounds >= 1 && size.flows >= 1 && size.flows <= 1'000'000 && size.gro_run >= 1 &&
         size.gro_run <= burst_size && burst_size % size.gro_run == 0 && size.shards >= 1 && size.shards <= max_shards;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int place, std::uint32_t otherwise) {
    return argc > place ? static_cast<std::uint32_t>(std::strtoul(argv[place], nullptr, 10)) : otherwise;
  };
  Size size;
  size.rounds = static_cast<int>(number(1, 20000));
  size.flows = number(3, size.flows);
  size.gro_run = number(4, size.gro_run);
  size.shards = number(5, size.shards);
  const auto order = find_order(argc > 6 ? argv[6] : "grouped");
  const Case* const which = find_case(argc > 2 ? argv[2] : "split");
  if (!is_valid(size) || which == nullptr || !order) {
    std::fprintf(
        stderr,
        "usage: relay_bench [ROUNDS [CASE [FLOWS [TRAIN [SHARDS [ORDER]]]]]]\n"
        "CASE: split, journal, unexposed, acks, drained, drained-split, reported, regulate, captured, recorded "
        "or bypass\n"
        "FLOWS: 1 to 1000000; TRAIN: segments of one in a burst, a divisor of 32\n"
        "SHARDS: 1 to 64; of several, on a processor each, how much more they relay than one\n"
        "ORDER of a burst: grouped by connection, interleaved in turn, or random\n");
    return 2;
  }
  size.order = *order;
  dpdk::EalConfig config;
  config.memory_mib *= size.shards;
  config.hugepages = free_huge_memory() >= config.memory_mib;
  std::printf("packet memory on huge pages         %s\n", config.hugepages ? "yes" : "no");
  dpdk::Eal eal(config);
  packet::PacketPool pool("bench", packet_buffers * size.shards);
  if (size.shards > 1) return compare_shards(*which, size, pool) ? 0 : 1;
  const auto outcome = relay(*which, size, pool, [] {});
  if (!outcome) return 1;
  print(*outcome);
  if (which == cases.data()) std::printf("bytes per idle connection pair      %zu (budget 1024)\n", memory_of_a_pair());
  return 0;
}
