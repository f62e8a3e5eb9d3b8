// What the proxy spends on one relayed 1448-byte segment: the data segment in from the core and out to the radio, the
// acknowledgement to the server, the UE's acknowledgement, and the timers of it all, with bursts of 32 packets, all in
// memory: split, passing end to end under a law, or forwarded untouched. Cycles are counted around Shard::receive,
// Shard::advance and Shard::on_report only; building the traffic is not part of it. Under callgrind (--toggle-collect
// on measured_receive, measured_advance and measured_report) the same binary gives instructions.

#include <rte_cycles.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/shard.hpp"
#include "tests/bench/hosts.hpp"
#include "tests/bench/onlooker.hpp"

namespace {

using namespace sluice;
using bench::burst_size;
using bench::Onlooker;
using proxy::Side;

/// Slow start, the beginning of a law and cold caches are over by then.
constexpr Duration warm_up = std::chrono::seconds(2);
constexpr int least_warm_up = 500;    ///< rounds
constexpr int most_warm_up = 20'000;  ///< beside two of every connection
/// With more connections than this the segments that wait for their acknowledgements would be more than there are
/// buffers for: each train is acknowledged, instead of every second segment.
constexpr std::uint32_t most_unhurried = 10'000;
constexpr Duration radio_round_trip = std::chrono::milliseconds(20);
constexpr Duration delayed_ack = std::chrono::milliseconds(40);
constexpr std::int64_t longest_round_trip = 1000;  ///< rounds, so that what is under way fits the pool
constexpr std::uint32_t packet_buffers = 131'072;

/// Cycles that one thing has taken, all together.
struct Cycles {
  std::uint64_t receive = 0;
  std::uint64_t advance = 0;
  std::uint64_t report = 0;
};

class Bench {
 public:
  /// `train`: segments of a connection that follow each other, a divisor of a burst's.
  Bench(packet::PacketPool& pool, proxy::Shard& shard, Onlooker& onlooker, bench::Sink& sink, std::uint32_t flows,
        std::uint32_t train)
      : shard_(shard),
        onlooker_(onlooker),
        sink_(sink),
        hosts_(pool, window_of(flows, train)),
        train_(train),
        round_time_(time_of_a_round(flows, train)),
        delay_(static_cast<std::size_t>(delayed_ack / round_time_)) {
    const auto rounds = std::min<std::int64_t>(radio_round_trip / round_time_, longest_round_trip);
    on_the_way_.resize(static_cast<std::size_t>(rounds));
    connections_.reserve(flows);
    for (std::uint32_t i = 0; i < flows; ++i) open_one(i);
    ues_.reserve(flows);
    for (const bench::Connection& connection : connections_) ues_.push_back({connection.server_next, 0, 0});
  }

  /// One burst of data from the server; the UEs acknowledge every second segment, or each train of them.
  void round(bool measured) {
    send(measured);
    acknowledge(measured);
    report_in_turn(measured);
    advance(measured);
    hear();
    lost = onlooker_.read();
    ++rounds_;
    now_ += round_time_;
  }

  /// A report of every UE's queue each `period`, the UEs one after the other; the first of each at once.
  void report_every(Duration period) {
    period_ = period;
    for (std::size_t i = 0; i < connections_.size(); ++i) report(connections_[i], false);
  }

  /// Until everything is as it stays.
  void warm() {
    const auto passes = static_cast<std::int64_t>(2 * connections_.size() * train_ / burst_size);
    const std::int64_t rounds = std::max({warm_up / round_time_, passes, std::int64_t{least_warm_up}});
    for (std::int64_t i = 0; i < std::min(rounds, most_warm_up + passes); ++i) round(false);
  }

  Cycles cycles;
  std::uint64_t segments = 0;
  std::uint64_t reports = 0;
  std::uint64_t lost = 0;  ///< frames that the onlooker did not see

 private:
  /// What the UE of a connection has and has not acknowledged.
  struct Ue {
    tcp::SeqNum next;
    std::uint32_t echo = 0;
    std::uint32_t waiting = 0;  ///< segments
  };
  /// Nothing else having come, its last segment is acknowledged then.
  struct Delayed {
    std::uint32_t number;
    tcp::SeqNum next;
    std::size_t due;  ///< round
  };
  struct Ack {
    std::uint32_t number;
    tcp::SeqNum up_to;
    std::uint32_t echo;
  };

  /// Each connection has about 1 Mb/s, all together 1 to 18 Gb/s.
  [[nodiscard]] static Duration time_of_a_round(std::uint32_t flows, std::uint32_t train) {
    const Duration fair = Duration(std::chrono::milliseconds(12)) * burst_size / (flows * train);
    return std::clamp<Duration>(fair, std::chrono::microseconds(20), std::chrono::microseconds(400));
  }

  /// Twice what a connection needs, and no more than all together find room for.
  [[nodiscard]] static Bytes window_of(std::uint32_t flows, std::uint32_t train) {
    return Bytes(std::clamp<std::int64_t>(16'000'000 / flows, 16 * 1024 * train, 2 * 1024 * 1024));
  }

  /// As many segments as a burst has and windows allow.
  void send(bool measured) {
    std::size_t count = 0;
    for (std::size_t tried = 0; tried < burst_size / train_; ++tried) {
      bench::Connection& connection = connections_[next_];
      for (std::size_t i = 0; i < train_ && connection.server_next + bench::payload_size <= connection.server_edge; ++i)
        burst_[count++] = hosts_.data_of_server(connection, now_);
      next_ = (next_ + 1) % connections_.size();
    }
    if (count != 0) receive(Side::core, count, measured);
    if (measured) segments += count;
  }

  /// What the hosts have got since the last time.
  void hear() {
    const std::uint32_t every = connections_.size() > most_unhurried ? 1 : 2;
    sink_.take(Side::core, [&](const tcp::Segment& segment, std::uint32_t number) {
      connections_[number].server_edge = segment.ack + (std::uint32_t{segment.window} << bench::window_scale);
    });
    std::vector<Ack>& acks = on_the_way_[(rounds_ + on_the_way_.size() - 1) % on_the_way_.size()];
    sink_.take(Side::radio, [&](const tcp::Segment& segment, std::uint32_t number) {
      if (segment.payload_len == 0) return;
      Ue& ue = ues_[number];
      const bool repeated = segment.seq != ue.next;
      if (ue.waiting++ == 0) ue.echo = segment.ts_value;
      if (!repeated) ue.next += segment.payload_len;
      if (!repeated && (ue.waiting % every != 0 || ue.waiting < train_)) {
        delayed_.push_back({number, ue.next, rounds_ + delay_});
        return;
      }
      acks.push_back({number, ue.next, ue.echo});
      ue.waiting = 0;
    });
    for (; !delayed_.empty() && delayed_.front().due <= rounds_; delayed_.pop_front()) {
      Ue& ue = ues_[delayed_.front().number];
      if (ue.waiting == 0 || ue.next != delayed_.front().next) continue;
      acks.push_back({delayed_.front().number, ue.next, ue.echo});
      ue.waiting = 0;
    }
  }

  void acknowledge(bool measured) {
    std::vector<Ack>& due = on_the_way_[rounds_ % on_the_way_.size()];
    for (std::size_t done = 0; done < due.size();) {
      const std::size_t count = std::min(burst_size, due.size() - done);
      for (std::size_t i = 0; i < count; ++i) {
        const Ack& ack = due[done++];
        burst_[i] = hosts_.ack_of_ue(connections_[ack.number], ack.up_to, ack.echo, now_);
      }
      receive(Side::radio, count, measured);
    }
    due.clear();
  }

  /// Whose turn comes in this round.
  void report_in_turn(bool measured) {
    if (period_ <= Duration::zero()) return;
    due_ += static_cast<double>(connections_.size()) * (to_seconds(round_time_) / to_seconds(period_));
    for (; due_ >= 1; due_ -= 1) {
      report(connections_[reported_], measured);
      reported_ = (reported_ + 1) % connections_.size();
    }
  }

  void report(const bench::Connection& connection, bool measured) {
    proxy::ReportArrival arrival;
    arrival.bearer.ue = connection.to_ue.dst;
    arrival.bearer.buffer = Bytes(1'000'000);
    arrival.bearer.mean_service_rate = arrival.bearer.service_rate = Rate::bits_per_second(50e6);
    arrival.bearer.allowance = Bytes(100'000);
    arrival.epoch = 1;
    arrival.sequence = ++sequence_;
    arrival.sender_time = now_.time_since_epoch();
    arrival.period = period_;
    if (measured) {
      measured_report(arrival);
      ++reports;
    } else {
      shard_.on_report(arrival, now_);
    }
  }

  void receive(Side side, std::size_t count, bool measured) {
    if (measured) {
      measured_receive(side, count);
    } else {
      onlooker_.receive(shard_, side, std::span(burst_).first(count), now_);
    }
  }

  void advance(bool measured) {
    if (measured) {
      measured_advance();
    } else {
      shard_.advance(now_);
    }
  }

  // What callgrind collects.
  __attribute__((noinline)) void measured_receive(Side side, std::size_t count) {
    const std::uint64_t before = rte_rdtsc_precise();
    onlooker_.receive(shard_, side, std::span(burst_).first(count), now_);
    cycles.receive += rte_rdtsc_precise() - before;
  }
  __attribute__((noinline)) void measured_advance() {
    const std::uint64_t before = rte_rdtsc_precise();
    shard_.advance(now_);
    cycles.advance += rte_rdtsc_precise() - before;
  }
  __attribute__((noinline)) void measured_report(const proxy::ReportArrival& arrival) {
    const std::uint64_t before = rte_rdtsc_precise();
    shard_.on_report(arrival, now_);
    cycles.report += rte_rdtsc_precise() - before;
  }

  void pass(Side side, packet::Packet packet) { shard_.receive(side, {&packet, 1}, now_); }

  void open_one(std::uint32_t number) {
    bench::Connection connection = bench::Hosts::connection(number, 1);
    pass(Side::radio, hosts_.syn(connection, now_));
    pass(Side::core, hosts_.syn_ack(connection, now_));
    pass(Side::radio, hosts_.ack_of_ue(connection, now_));
    sink_.take(Side::core, [&](const tcp::Segment& segment, std::uint32_t) {
      connection.server_edge = segment.ack + (std::uint32_t{segment.window} << bench::window_scale);
    });
    sink_.take(Side::radio, [](const tcp::Segment&, std::uint32_t) {});
    connections_.push_back(connection);
  }

  proxy::Shard& shard_;
  Onlooker& onlooker_;
  bench::Sink& sink_;
  bench::Hosts hosts_;
  std::uint32_t train_;
  Duration round_time_;
  std::vector<bench::Connection> connections_;
  std::vector<Ue> ues_;
  std::deque<Delayed> delayed_;
  std::size_t delay_;                         ///< rounds
  std::vector<std::vector<Ack>> on_the_way_;  ///< a ring, by the round in which they arrive
  std::array<packet::Packet, burst_size> burst_;
  std::size_t next_ = 0;
  std::size_t rounds_ = 0;
  Duration period_{};
  double due_ = 0;  ///< reports
  std::size_t reported_ = 0;
  std::uint64_t sequence_ = 0;
  Instant now_{std::chrono::seconds(1000)};
};

/// Bytes of memory that one idle, split connection takes where its UE has many, everything counted.
std::size_t memory_of_a_pair() {
  const std::size_t flow = flow::Slab<proxy::Flow>::stride();
  constexpr std::size_t table = 2 * 8 + sizeof(flow::FlowKey);  // two slots per flow, and the key
  constexpr std::size_t wheel = 16;
  return flow + table + wheel;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// How the connections are got hold of.
struct Case {
  const char* name;
  proxy::Mode mode;
  proxy::Intercept intercept;
  proxy::Counter counts;               ///< what shows that they are
  bool journal = false;                ///< notes what a later run must know (state.file)
  std::optional<Bytes> exposure = {};  ///< limits.exposure_per_flow
  proxy::LawPlace law = proxy::LawPlace::nodeb;
  Duration reports = std::chrono::seconds(60);  ///< so often one of each UE; zero: none
  Onlooker::Looks looks = Onlooker::Looks::no;  ///< at headers only
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
         proxy::LawPlace::acks,
         Duration::zero()},
    Case{"reported",
         proxy::Mode::smvs,
         proxy::Intercept::split,
         proxy::Counter::flows_split,
         false,
         {},
         proxy::LawPlace::nodeb,
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
  std::uint32_t train = 1;
};

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

Runs measure(Bench& bench, int rounds) {
  Runs runs;
  for (int run = 0; run < 9; ++run) {
    const Cycles before = bench.cycles;
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

/// Prints what it has measured; false when the shard did not do what was to be measured.
bool run(const Case& which, const Size& size) {
  packet::PacketPool pool("bench", packet_buffers);
  bench::Sink sink;
  const proxy::ShardConfig config = configuration(which, size);
  std::vector<proxy::JournalEntry> entries(which.journal ? config.limits.max_flows : 0);
  Onlooker onlooker(sink, which.looks);
  proxy::Transmitter& output = which.looks == Onlooker::Looks::no ? static_cast<proxy::Transmitter&>(sink) : onlooker;
  proxy::Shard shard(config, pool, output, {1, 2}, Instant{}, proxy::FlowJournal(entries));
  Bench bench(pool, shard, onlooker, sink, size.flows, size.train);
  if (which.reports > Duration::zero()) bench.report_every(which.reports);
  if (shard.counters()[which.counts] < size.flows) {
    std::fprintf(stderr, "the connections were not intercepted as wanted: %s\n", which.name);
    return false;
  }
  bench.warm();
  const std::uint64_t sent_before = sink.sent(Side::radio);
  const std::uint64_t acknowledged_before = sink.sent(Side::core);
  const Runs runs = measure(bench, size.rounds);
  const std::uint64_t offered = static_cast<std::uint64_t>(size.rounds / 9 + 1) * 9 * burst_size;
  const std::uint64_t relayed = sink.sent(Side::radio) - sent_before;
  // A law may send at the end what came before the beginning.
  if (relayed < bench.segments - bench.segments / 100 || relayed > bench.segments + bench.segments / 100) {
    std::fprintf(stderr, "%llu segments offered, %llu relayed\n", static_cast<unsigned long long>(bench.segments),
                 static_cast<unsigned long long>(relayed));
    return false;
  }
  if (bench.lost != 0) {
    std::fprintf(stderr, "%llu frames were not captured\n", static_cast<unsigned long long>(bench.lost));
    return false;
  }
  std::printf("relayed segments                    %llu\n", static_cast<unsigned long long>(relayed));
  std::printf("share of what servers had to send   %.1f %%\n",
              100.0 * static_cast<double>(relayed) / static_cast<double>(offered));
  std::printf("acknowledgements per segment        %.2f\n",
              static_cast<double>(sink.sent(Side::core) - acknowledged_before) / static_cast<double>(relayed));
  print("cycles per relayed segment", runs.whole);
  print("  of these in timers", runs.timers);
  if (bench.reports != 0) {
    print("  of these in reports", runs.reports);
    std::printf("reports per segment                 %.2f\n",
                static_cast<double>(bench.reports) / static_cast<double>(relayed));
  }
  return true;
}

bool is_valid(const Size& size) {
  return size.rounds >= 1 && size.flows >= 1 && size.flows <= 1'000'000 && size.train >= 1 &&
         size.train <= burst_size && burst_size % size.train == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int place, std::uint32_t otherwise) {
    return argc > place ? static_cast<std::uint32_t>(std::strtoul(argv[place], nullptr, 10)) : otherwise;
  };
  Size size;
  size.rounds = static_cast<int>(number(1, 20000));
  size.flows = number(3, size.flows);
  size.train = number(4, size.train);
  const Case* const which = find_case(argc > 2 ? argv[2] : "split");
  if (!is_valid(size) || which == nullptr) {
    std::fprintf(stderr,
                 "usage: relay_bench [ROUNDS [CASE [FLOWS [TRAIN]]]]\n"
                 "CASE: split, journal, unexposed, acks, reported, regulate, captured, recorded or bypass\n"
                 "FLOWS: 1 to 1000000; TRAIN: segments of one that follow each other, a divisor of 32\n");
    return 2;
  }
  dpdk::Eal eal(dpdk::EalConfig{});
  if (!run(*which, size)) return 1;
  if (which == cases.data()) std::printf("bytes per idle connection pair      %zu (budget 1024)\n", memory_of_a_pair());
  return 0;
}
