// What many connections cost besides their segments, in memory: bytes of resident memory for an idle pair and how long
// calls take when all of them end together; connections that carry one small answer, from the first SYN to
// the last word; reports of many UEs, and the statuses that answer them. Cycles are counted around the shard's calls
// only. Under callgrind (--toggle-collect on measured_receive and measured_advance) the same binary gives instructions.

#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "control/feedback/session.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/bench/hosts.hpp"
#include "tests/bench/report_path.hpp"

namespace {

using namespace sluice;
using proxy::Side;

constexpr Bytes host_window{64 * 1024};

proxy::ShardConfig configuration(std::uint32_t flows, std::uint32_t ues, proxy::Mode mode) {
  proxy::ShardConfig config;
  config.mode = mode;
  config.limits.max_flows = flows + flows / 4 + 1024;
  config.limits.max_bearers = ues + 16;
  return config;
}

/// A shard, its hosts, and what their calls have cost.
class Scene {
 public:
  Scene(const proxy::ShardConfig& config, packet::PacketPool& pool)
      : shard(config, pool, sink, {1, 2}, Instant{}), hosts(pool, host_window) {}

  void put(Side side, packet::Packet packet) { receive(side, {&packet, 1}); }
  /// Puts it with others that come from this side, as a poll thread takes them from a port.
  void put_in_burst(Side side, packet::Packet packet) {
    std::vector<packet::Packet>& burst = bursts_[static_cast<std::size_t>(side)];
    burst.push_back(std::move(packet));
    if (burst.size() == bench::burst_size) flush(side);
  }
  void flush(Side side) {
    std::vector<packet::Packet>& burst = bursts_[static_cast<std::size_t>(side)];
    if (!burst.empty()) receive(side, burst);
    burst.clear();
  }
  void advance() {
    if (measuring) {
      measured_advance();
    } else {
      shard.advance(now);
    }
  }
  void open(bench::Connection& c) {
    put(Side::radio, hosts.syn(c, now));
    put(Side::core, hosts.syn_ack(c, now));
    put(Side::radio, hosts.ack_of_ue(c, now));
    forget();
  }
  /// Runs one request of the UE and its answer, then passes time so that a million connections take some minutes.
  void use(bench::Connection& c) {
    put(Side::radio, hosts.data_of_ue(c, now, 100));
    put(Side::core, hosts.data_of_server(c, now));
    sink.take(Side::core, [](const tcp::Segment&, std::uint32_t) {});
    tcp::SeqNum next;
    std::uint32_t echo = 0;
    sink.take(Side::radio, [&](const tcp::Segment& segment, std::uint32_t) {
      if (segment.payload_len == 0) return;
      next = segment.seq + segment.payload_len;
      echo = segment.ts_value;
    });
    put(Side::radio, hosts.ack_of_ue(c, next, echo, now));
    forget();
    now += std::chrono::microseconds(200);
    advance();
  }
  void forget() {
    for (const Side side : {Side::radio, Side::core}) sink.take(side, [](const tcp::Segment&, std::uint32_t) {});
  }

  bench::Sink sink;
  proxy::Shard shard;
  bench::Hosts hosts;
  Instant now{std::chrono::seconds(1000)};
  bool measuring = false;    ///< from now on calls of the shard are counted
  std::uint64_t cycles = 0;  ///< cycles spent on them

 private:
  void receive(Side side, std::span<packet::Packet> burst) {
    if (measuring) {
      measured_receive(side, burst);
    } else {
      shard.receive(side, burst, now);
    }
  }
  // What callgrind collects.
  __attribute__((noinline)) void measured_receive(Side side, std::span<packet::Packet> burst) {
    const std::uint64_t before = rte_rdtsc_precise();
    shard.receive(side, burst, now);
    cycles += rte_rdtsc_precise() - before;
  }
  __attribute__((noinline)) void measured_advance() {
    const std::uint64_t before = rte_rdtsc_precise();
    shard.advance(now);
    cycles += rte_rdtsc_precise() - before;
  }

  std::array<std::vector<packet::Packet>, 2> bursts_;  ///< by the side they come from
};

double microseconds(std::uint64_t cycles) {
  return static_cast<double>(cycles) * 1e6 / static_cast<double>(rte_get_tsc_hz());
}

std::size_t resident_bytes() {
  unsigned long whole = 0;
  unsigned long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu %lu", &whole, &resident) != 2) std::exit(1);
  std::fclose(file);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Measures the memory of `pairs` idle connections, from a tenth of them on; then ends all of them. With `used`, each
/// has carried one request and its answer under the ACK-based controller.
bool idle(std::uint32_t pairs, std::uint32_t per_ue, bool used) {
  packet::PacketPool pool("scale", 8192);
  proxy::ShardConfig config = configuration(pairs, pairs / per_ue + 1, proxy::Mode::smvs);
  if (used) config.smvs.law = proxy::ControllerLocation::acks;
  config.timeouts.idle = std::chrono::hours(1);
  Scene scene(config, pool);
  std::size_t before = 0;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    if (i == pairs / 10) before = resident_bytes();
    bench::Connection connection = bench::Hosts::connection(i, per_ue);
    scene.open(connection);
    if (used) scene.use(connection);
  }
  const std::size_t taken = resident_bytes() - before;
  if (scene.shard.counters()[proxy::Counter::flows_split] < pairs) return false;
  std::printf("idle pairs                          %u, %u of each UE%s\n", pairs, per_ue, used ? ", used before" : "");
  std::printf("resident bytes for each             %.0f\n",
              static_cast<double>(taken) / static_cast<double>(pairs - pairs / 10));
  scene.now += config.timeouts.idle + std::chrono::seconds(2);
  scene.measuring = true;
  std::vector<std::uint64_t> ending;  // cycles of the calls that ended any
  std::uint64_t calls = 0;
  for (std::uint32_t left = pairs; left > 0 && calls < pairs; ++calls) {
    const std::uint64_t spent = scene.cycles;
    scene.advance();
    if (scene.shard.flow_count() < left) ending.push_back(scene.cycles - spent);
    left = scene.shard.flow_count();
  }
  std::printf("they end together                   %.0f us in %llu calls\n", microseconds(scene.cycles),
              static_cast<unsigned long long>(calls));
  std::sort(ending.begin(), ending.end());
  const auto one_in = [&](std::size_t part) { return microseconds(ending[ending.size() - 1 - ending.size() / part]); };
  std::printf("of the calls that end any           half within %.0f us, 99 %% within %.0f us, the longest %.0f us\n",
              one_in(2), one_in(100), microseconds(ending.back()));
  return scene.shard.flow_count() == 0;
}

/// A request of 100 bytes and an answer of one segment, then both hosts close, the server first. In parallel, a round
/// has as many of them in each of their steps, and what comes from a side comes in bursts.
class ShortConnections {
 public:
  ShortConnections(Scene& scene, std::uint32_t parallel, std::uint32_t idle) : scene_(scene), idle_(idle) {
    connections_.reserve(parallel);
    for (std::uint32_t i = 0; i < parallel; ++i) {
      connections_.push_back(next());
      connections_.back().step = -static_cast<int>(i % steps);
    }
  }
  /// Each connection advances by one step; after its last step a new connection takes its place.
  void round() {
    for (auto& [connection, step] : connections_) {
      take(connection, step);
      if (++step == steps) {
        connection = next().connection;
        step = 0;
        ++finished;
      }
    }
    for (const Side side : {Side::radio, Side::core}) scene_.flush(side);
    scene_.forget();
    scene_.advance();
    scene_.now += std::chrono::microseconds(20);
  }
  std::uint64_t finished = 0;

 private:
  struct Each {
    bench::Connection connection;
    int step = 0;
  };
  static constexpr int steps = 6;

  Each next() { return {bench::Hosts::connection(16 * idle_ + begun_++ % 4'000'000, 16), 0}; }

  void take(bench::Connection& c, int step) {
    bench::Hosts& hosts = scene_.hosts;
    switch (step) {
      case 0:
        scene_.put_in_burst(Side::radio, hosts.syn(c, scene_.now));
        return;
      case 1:
        scene_.put_in_burst(Side::core, hosts.syn_ack(c, scene_.now));
        return;
      case 2:
        scene_.put_in_burst(Side::radio, hosts.ack_of_ue(c, scene_.now));
        scene_.put_in_burst(Side::radio, hosts.data_of_ue(c, scene_.now, 100));
        return;
      case 3:
        scene_.put_in_burst(Side::core, hosts.data_of_server(c, scene_.now, bench::payload_size, tcp::Flags::fin_bit));
        return;
      case 4:
        scene_.put_in_burst(Side::radio, hosts.data_of_ue(c, scene_.now, 0, tcp::Flags::fin_bit));
        return;
      case 5:
        scene_.put_in_burst(Side::core, hosts.ack_of_server(c, scene_.now));
        return;
      default:  // waits for its time
        return;
    }
  }

  Scene& scene_;
  std::uint32_t idle_;
  std::uint32_t begun_ = 0;
  std::vector<Each> connections_;
};

bool short_connections(std::uint32_t parallel, std::uint32_t idle, std::uint64_t wanted) {
  packet::PacketPool pool("scale", 65536);
  proxy::ShardConfig config = configuration(idle + 4 * parallel, 4'000'000, proxy::Mode::i_tcp);
  config.limits.max_flows = std::max(config.limits.max_flows, 65'536U);
  config.timeouts.idle = std::chrono::hours(10);
  Scene scene(config, pool);
  for (std::uint32_t i = 0; i < idle; ++i) {
    bench::Connection connection = bench::Hosts::connection(i, 1);
    scene.open(connection);
  }
  ShortConnections connections(scene, parallel, idle);
  while (connections.finished < wanted / 4) connections.round();
  const std::uint64_t split = scene.shard.counters()[proxy::Counter::flows_split];
  const std::uint64_t before = connections.finished;
  scene.measuring = true;
  while (connections.finished < before + wanted) connections.round();
  const std::uint64_t done = connections.finished - before;
  const double each = static_cast<double>(scene.cycles) / static_cast<double>(done);
  const std::uint64_t unsplit = done - std::min(done, scene.shard.counters()[proxy::Counter::flows_split] - split);
  std::printf("short connections                   %llu, %u in parallel, %u idle ones beside\n",
              static_cast<unsigned long long>(done), parallel, idle);
  std::printf("cycles for each                     %.0f, %.0f a second of one core\n", each,
              static_cast<double>(rte_get_tsc_hz()) / each);
  std::printf("not split for want of room          %.1f %%\n",
              100.0 * static_cast<double>(unsplit) / static_cast<double>(done));
  return true;
}

proxy::ReportArrival report_of(const IpAddress& ue, std::uint64_t sequence, Instant now) {
  proxy::ReportArrival arrival;
  arrival.bearer.ue = ue;
  arrival.bearer.buffer = Bytes(1'000'000);
  arrival.bearer.mean_service_rate = arrival.bearer.service_rate = Rate::bits_per_second(1e6);
  arrival.bearer.allowance = Bytes(10'000);
  arrival.epoch = 1;
  arrival.sequence = sequence;
  arrival.sender_time = now.time_since_epoch();
  arrival.period = std::chrono::milliseconds(5);
  return arrival;
}

/// Measures a report of each UE in turn, and the statuses after each 64 of them. `batch` reports come at once; a poll
/// thread reads up to 64.
bool reports(std::uint32_t ues, std::uint32_t batch) {
  packet::PacketPool pool("scale", 8192);
  Scene scene(configuration(ues, ues, proxy::Mode::smvs), pool);
  std::vector<bench::Connection> connections;
  for (std::uint32_t i = 0; i < ues; ++i) {
    connections.push_back(bench::Hosts::connection(i, 1));
    scene.open(connections.back());
  }
  constexpr std::uint32_t statuses_after = 64;
  constexpr std::uint32_t warm = 2;
  std::uint64_t of_reports = 0;
  std::uint64_t of_statuses = 0;
  std::uint64_t told = 0;
  std::vector<control::feedback::BearerStatus> statuses;
  std::vector<proxy::ReportArrival> arrivals;
  const std::uint32_t rounds = std::max(4U, 400'000 / ues);
  std::uint64_t measured = 0;
  std::uint64_t collections = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < ues; ++i) {
      arrivals.push_back(report_of(connections[i].to_ue.dst, round + 1, scene.now));
      if (arrivals.size() < batch && i + 1 < ues && i % statuses_after != statuses_after - 1) continue;
      std::uint64_t before = rte_rdtsc_precise();
      scene.shard.on_reports(arrivals, scene.now);
      if (round >= warm) {
        of_reports += rte_rdtsc_precise() - before;
        measured += arrivals.size();
      }
      arrivals.clear();
      if (i % statuses_after != statuses_after - 1) continue;
      statuses.clear();
      before = rte_rdtsc_precise();
      scene.shard.collect_status(statuses, false);
      if (round < warm) continue;
      of_statuses += rte_rdtsc_precise() - before;
      told += statuses.size();
      ++collections;
    }
    scene.now += std::chrono::milliseconds(5);
    scene.shard.advance(scene.now);
  }
  std::printf("UEs that are reported               %u, %u at once\n", ues, batch);
  std::printf("cycles for each report              %.0f\n",
              static_cast<double>(of_reports) / static_cast<double>(measured));
  std::printf("cycles to collect statuses          %.0f, of %.1f UEs that changed\n",
              static_cast<double>(of_statuses) / static_cast<double>(std::max<std::uint64_t>(collections, 1)),
              static_cast<double>(told) / static_cast<double>(std::max<std::uint64_t>(collections, 1)));
  return measured > 0;
}

/// Measures the processing of a report datagram before it reaches a shard, for each signature algorithm.
bool datagrams() {
  namespace feedback = control::feedback;
  struct Wire final : feedback::DatagramSink {
    std::vector<std::vector<std::uint8_t>> sent;
    void send(std::span<const std::uint8_t> datagram) override { sent.emplace_back(datagram.begin(), datagram.end()); }
  };
  struct Discard final : feedback::DatagramSink {
    void send(std::span<const std::uint8_t>) override {}
  };
  struct Count final : feedback::RecordHandler {
    std::uint64_t records = 0;
    void on_report(const feedback::Header&, const feedback::BearerReport&) override { ++records; }
    void on_status(const feedback::Header&, const feedback::BearerStatus&) override {}
  };
  std::vector<feedback::BearerReport> reports;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    reports.push_back(report_of(bench::Hosts::connection(i, 1).to_ue.dst, 1, Instant{}).bearer);
    reports.back().queue = Bytes(20'000);
    reports.back().arrived = reports.back().transmitted = reports.back().delivered = 5'000'000 + i;
  }
  for (const auto algorithm : {feedback::TagAlgorithm::hmac_sha_256, feedback::TagAlgorithm::aes_256_gmac}) {
    feedback::SessionConfig config;
    config.keys = {{1, std::vector<std::uint8_t>(32, 0x42), algorithm}};
    config.send_key = 1;
    config.session_id.fill(1);
    config.sender = 2;
    feedback::Session proxy(config);
    config.role = feedback::Role::node_b;
    config.sender = 1;
    feedback::Session node_b(config);
    std::uint64_t sent = UINT64_MAX;
    std::uint64_t received = UINT64_MAX;
    Wire wire;
    Count count;
    for (int round = 0; round < 20; ++round) {  // the fastest round, which no other thread has disturbed
      Discard nothing;
      std::uint64_t before = rte_rdtsc_precise();
      node_b.send_reports(reports, Duration(1), std::chrono::milliseconds(5), false, nothing);
      sent = std::min(sent, rte_rdtsc_precise() - before);
      wire.sent.clear();
      node_b.send_reports(reports, Duration(1), std::chrono::milliseconds(5), false, wire);
      count.records = 0;
      before = rte_rdtsc_precise();
      for (const auto& datagram : wire.sent) {
        static_cast<void>(proxy.receive(datagram, count, {Instant(Duration(1)), 1}));
      }
      received = std::min(received, rte_rdtsc_precise() - before);
      if (count.records != reports.size()) return false;
    }
    std::printf("%-24s            %.0f cycles to send a record, %.0f to take one, %zu datagrams\n",
                algorithm == feedback::TagAlgorithm::hmac_sha_256 ? "hmac-sha-256" : "aes-256-gmac",
                static_cast<double>(sent) / static_cast<double>(count.records),
                static_cast<double>(received) / static_cast<double>(count.records), wire.sent.size());
  }
  return true;
}

/// `ues` of which each period some percent change, others drawn each time: all reported each 5 ms, or those that
/// changed and a hundredth of the others. What that costs the proxy, with its timers.
bool city(std::uint32_t ues, std::uint32_t percent, bool all, std::size_t datagram) {
  packet::PacketPool pool("scale", 8192);
  Scene scene(configuration(ues, ues, proxy::Mode::smvs), pool);
  std::vector<control::feedback::BearerReport> state;
  for (std::uint32_t i = 0; i < ues; ++i) {
    bench::Connection connection = bench::Hosts::connection(i, 1);
    scene.open(connection);
    state.push_back(report_of(connection.to_ue.dst, 1, scene.now).bearer);
    state.back().arrived = state.back().transmitted = state.back().delivered = 1'000'000 + i;
  }
  constexpr std::uint32_t turn = 100;
  constexpr std::uint32_t warm = 4;
  constexpr std::uint32_t rounds = 100;
  const Duration refresh = all ? Duration{} : turn * std::chrono::milliseconds(5);
  bench::ReportPath path(scene.shard, datagram);
  std::vector<control::feedback::BearerReport> named;
  std::uint64_t records = 0;
  std::uint64_t random = 88172645463325252ULL;
  std::uint64_t timers = 0;
  for (std::uint32_t round = 0; round < warm + rounds; ++round) {
    if (round == warm) path.octets = path.received = path.in_shard = timers = records = 0;
    named.clear();
    for (std::uint32_t i = 0; i < ues; ++i) {
      random ^= random << 13U;
      random ^= random >> 7U;
      random ^= random << 17U;
      const bool changes = random % 100 < percent;
      if (changes) state[i].arrived = state[i].transmitted = state[i].delivered += 1500;
      if (all || changes || round == 0 || (round + i) % turn == 0) named.push_back(state[i]);
    }
    records += named.size();
    path.period(named, refresh, scene.now);
    const std::uint64_t before = bench::cycles_of_this_thread();
    for (int turns = 0; turns < 5; ++turns) {  // as a poll thread comes round
      scene.now += std::chrono::milliseconds(1);
      do scene.shard.advance(scene.now);
      while (scene.shard.next_deadline() <= scene.now);
    }
    timers += bench::cycles_of_this_thread() - before;
  }
  const double each = static_cast<double>(ues) * rounds;
  const auto cycles = static_cast<double>(path.received + timers) / each;
  std::printf("UEs each 5 ms                       %u, %u %% of them change; %s, datagrams of %zu bytes\n", ues,
              percent, all ? "all are reported" : "others are left out", datagram);
  std::printf("records and bytes for each UE       %.3f, %.1f\n", static_cast<double>(records) / each,
              static_cast<double>(path.octets) / each);
  std::printf("cycles for each UE and period       %.0f: %.0f to take datagrams, %.0f in the shard, %.0f its timers\n",
              cycles, static_cast<double>(path.received - path.in_shard) / each,
              static_cast<double>(path.in_shard) / each, static_cast<double>(timers) / each);
  std::printf("cores that takes                    %.2f\n", cycles * ues * 200 / static_cast<double>(rte_get_tsc_hz()));
  std::printf("begun to be steered, and fell back  %llu, %llu\n",
              static_cast<unsigned long long>(scene.shard.counters()[proxy::Counter::recoveries]),
              static_cast<unsigned long long>(scene.shard.counters()[proxy::Counter::fallbacks]));
  return scene.shard.counters()[proxy::Counter::fallbacks] == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int place, std::uint32_t otherwise) {
    return argc > place ? static_cast<std::uint32_t>(std::strtoul(argv[place], nullptr, 10)) : otherwise;
  };
  dpdk::Eal eal(dpdk::EalConfig{});
  if (what == "idle")
    return idle(std::max(number(2, 100'000), 10U), std::max(number(3, 1), 1U), number(4, 0) != 0) ? 0 : 1;
  if (what == "short") return short_connections(std::max(number(2, 1), 1U), number(3, 0), number(4, 400'000)) ? 0 : 1;
  if (what == "reports") return reports(std::max(number(2, 10'000), 64U), std::max(number(3, 64), 1U)) ? 0 : 1;
  if (what == "datagrams") return datagrams() ? 0 : 1;
  if (what == "city")
    return city(std::max(number(2, 100'000), 100U), number(3, 10), number(4, 0) != 0, number(5, 1400)) ? 0 : 1;
  std::fprintf(stderr,
               "usage: scale_bench idle [PAIRS [OF-EACH-UE [USED]]] | short [PARALLEL [IDLE [CONNECTIONS]]] |\n"
               "                   reports [UES [AT-ONCE]] | datagrams |\n"
               "                   city [UES [PERCENT-THAT-CHANGE [ALL [BYTES-OF-A-DATAGRAM]]]]\n"
               "ALL: 1 where those that do not change are reported, too\n"
               "USED: 1 where each pair has carried something before\n");
  return 2;
}
