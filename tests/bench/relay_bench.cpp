// What the proxy spends on one relayed 1448-byte segment: the data segment in from the core and out to the radio, the
// acknowledgement to the server, and the UE's acknowledgement, with 1000 active connections and bursts of 32 packets,
// all in memory: split, passing end to end under a law, or forwarded untouched. Cycles are counted around
// Shard::receive only; building the traffic is not part of it. Under callgrind (--toggle-collect on relay_bench's
// measured_receive) the same binary gives instructions.

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/shard.hpp"

namespace {

using namespace sluice;
using proxy::Side;

constexpr std::uint32_t flow_count = 1000;
constexpr std::size_t burst_size = 32;
constexpr std::uint16_t payload_size = 1448;
constexpr int warm_up_rounds = 500;  ///< slow start, window updates and cold caches are over by then
constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
constexpr std::array<std::uint8_t, 6> server_mac = {2, 0, 0, 0, 0, 2};

/// Where the shard's packets end. What it sent is given back to the pool together, as a driver does once a burst is on
/// the wire.
class Sink final : public proxy::Transmitter {
 public:
  void transmit(Side out, std::span<packet::Packet> burst, Instant) override {
    sent_[static_cast<std::size_t>(out)] += burst.size();
    std::array<rte_mbuf*, 64> sent;
    while (!burst.empty()) {
      const auto count = std::min(burst.size(), sent.size());
      for (std::size_t i = 0; i < count; ++i) sent[i] = burst[i].release();
      rte_pktmbuf_free_bulk(sent.data(), static_cast<unsigned>(count));
      burst = burst.subspan(count);
    }
  }
  [[nodiscard]] std::uint64_t sent(Side side) const { return sent_[static_cast<std::size_t>(side)]; }

 private:
  std::array<std::uint64_t, 2> sent_{};
};

/// The two hosts of a connection, as far as the proxy can tell.
struct Connection {
  packet::Addresses to_ue;
  tcp::SeqNum server_next;  ///< what the server sends next
  tcp::SeqNum ue_next;
};

class Bench {
 public:
  Bench(packet::PacketPool& pool, proxy::Shard& shard)
      : pool_(pool),
        shard_(shard),
        from_server_(packet::make_template(server_mac, ue_mac, 4)),
        from_ue_(packet::make_template(ue_mac, server_mac, 4)) {
    for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::uint8_t>(i * 131U + 7U);
    payload_sum_ = packet::ones_complement_sum(payload_);
  }

  void open(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) open_one(i);
  }

  /// One burst of data from the server, each segment of another connection; the UEs acknowledge every second one.
  void round(bool measured) {
    const std::size_t first = next_;
    for (packet::Packet& packet : burst_) {
      Connection& connection = connections_[next_];
      packet = frame(from_server_, connection.to_ue, data_segment(connection), payload_size);
      connection.server_next += payload_size;
      next_ = (next_ + 1) % connections_.size();
    }
    receive(Side::core, measured);
    if (next_ < first) acknowledge_ = !acknowledge_;
    if (acknowledge_) {
      make_acknowledgements(first);
      receive(Side::radio, measured);
    }
    if (measured) segments += burst_size;
    now_ += std::chrono::microseconds(20);
  }

  /// A report of every UE's queue, good for longer than the benchmark runs.
  void report() {
    for (const Connection& connection : connections_) {
      proxy::ReportArrival arrival;
      arrival.bearer.ue = connection.to_ue.dst;
      arrival.bearer.buffer = Bytes(1'000'000);
      arrival.bearer.mean_service_rate = arrival.bearer.service_rate = Rate::bits_per_second(50e6);
      arrival.epoch = 1;
      arrival.sequence = 1;
      arrival.period = std::chrono::seconds(60);
      shard_.on_report(arrival, now_);
    }
  }

  std::uint64_t cycles = 0;
  std::uint64_t segments = 0;

 private:
  [[nodiscard]] tcp::Segment data_segment(const Connection& connection) const {
    tcp::Segment segment;
    segment.seq = connection.server_next;
    segment.ack = connection.ue_next;
    segment.flags.bits = tcp::Flags::ack_bit;
    segment.window = 8192;
    segment.payload_len = payload_size;
    stamp(segment);
    return segment;
  }

  void stamp(tcp::Segment& segment) const {
    segment.has_timestamps = true;
    segment.ts_value = static_cast<std::uint32_t>(now_.time_since_epoch() / std::chrono::milliseconds(1)) + 1;
    segment.ts_echo = segment.ts_value;
  }

  packet::Packet frame(const packet::HeaderTemplate& header, const packet::Addresses& addresses,
                       const tcp::Segment& segment, std::uint16_t size) {
    packet::Packet packet = pool_.allocate();
    if (!packet) {
      std::fprintf(stderr, "no packet buffers left\n");
      std::exit(1);
    }
    if (size != 0) std::memcpy(packet.append(size), payload_.data(), size);
    packet::write_headers(packet, header, addresses, segment, size != 0 ? payload_sum_ : std::uint16_t{0}, 1);
    return packet;
  }

  void make_acknowledgements(std::size_t first) {
    for (std::size_t i = 0; i < burst_.size(); ++i) {
      const Connection& connection = connections_[(first + i) % connections_.size()];
      tcp::Segment ack;
      ack.seq = connection.ue_next;
      ack.ack = connection.server_next;
      ack.flags.bits = tcp::Flags::ack_bit;
      ack.window = 8192;
      stamp(ack);
      burst_[i] = frame(from_ue_, connection.to_ue.reversed(), ack, 0);
    }
  }

  void receive(Side side, bool measured) {
    if (measured) {
      measured_receive(side);
    } else {
      shard_.receive(side, burst_, now_);
    }
  }

  /// What callgrind collects.
  __attribute__((noinline)) void measured_receive(Side side) {
    const std::uint64_t before = rte_rdtsc_precise();
    shard_.receive(side, burst_, now_);
    cycles += rte_rdtsc_precise() - before;
  }

  void pass(Side side, packet::Packet packet) { shard_.receive(side, {&packet, 1}, now_); }

  void open_one(std::uint32_t index) {
    Connection connection;
    connection.to_ue.src = IpAddress::v4(198, 51, 100, 1);
    connection.to_ue.dst =
        IpAddress::v4(10, 45, static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index));
    connection.to_ue.src_port = 80;
    connection.to_ue.dst_port = static_cast<std::uint16_t>(20000 + index);
    tcp::Segment syn;
    syn.seq = tcp::SeqNum(1000 + index);
    syn.flags.bits = tcp::Flags::syn_bit;
    syn.window = 65535;
    syn.syn = {1460, 8, true, true, true};
    stamp(syn);
    tcp::Segment syn_ack = syn;
    syn_ack.seq = tcp::SeqNum(500000 + index);
    syn_ack.ack = syn.seq + 1;
    syn_ack.flags.bits = tcp::Flags::syn_bit | tcp::Flags::ack_bit;
    tcp::Segment ack = syn;
    ack.flags.bits = tcp::Flags::ack_bit;
    ack.seq = syn.seq + 1;
    ack.ack = syn_ack.seq + 1;
    ack.window = 8192;
    pass(Side::radio, frame(from_ue_, connection.to_ue.reversed(), syn, 0));
    pass(Side::core, frame(from_server_, connection.to_ue, syn_ack, 0));
    pass(Side::radio, frame(from_ue_, connection.to_ue.reversed(), ack, 0));
    connection.server_next = ack.ack;
    connection.ue_next = ack.seq;
    connections_.push_back(connection);
  }

  packet::PacketPool& pool_;
  proxy::Shard& shard_;
  packet::HeaderTemplate from_server_;
  packet::HeaderTemplate from_ue_;
  std::array<std::uint8_t, payload_size> payload_{};
  std::uint16_t payload_sum_ = 0;
  std::vector<Connection> connections_;
  std::array<packet::Packet, burst_size> burst_;
  std::size_t next_ = 0;
  bool acknowledge_ = false;
  Instant now_{std::chrono::seconds(1000)};
};

/// Bytes of memory that one idle, split connection takes, everything counted.
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
  proxy::Counter counts;  ///< what shows that they are
  std::uint64_t at_least;
  bool journal = false;                ///< notes what a later run must know (state.file)
  std::optional<Bytes> exposure = {};  ///< limits.exposure_per_flow
};
constexpr std::array cases = {
    Case{"split", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split, flow_count},
    Case{"journal", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split, flow_count, true},
    Case{"unexposed", proxy::Mode::i_tcp, proxy::Intercept::split, proxy::Counter::flows_split, flow_count, false,
         Bytes(0)},
    Case{"regulate", proxy::Mode::clamp, proxy::Intercept::regulate, proxy::Counter::flows_regulated, flow_count},
    Case{"bypass", proxy::Mode::bypass, proxy::Intercept::automatic, proxy::Counter::forward_bypass_mode, flow_count},
};

const Case* find_case(const std::string& name) {
  const auto* const found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; });
  return found != cases.end() ? found : nullptr;
}

/// Prints what it has measured; false when the shard did not do what was to be measured.
bool run(const Case& which, int rounds) {
  packet::PacketPool pool("bench", 32768);
  Sink sink;
  proxy::ShardConfig config;
  config.mode = which.mode;
  config.intercept = which.intercept;
  config.limits.exposure_per_flow = which.exposure;
  std::vector<proxy::JournalEntry> entries(which.journal ? config.limits.max_flows : 0);
  proxy::Shard shard(config, pool, sink, {1, 2}, Instant{}, proxy::FlowJournal(entries));
  Bench bench(pool, shard);
  bench.open(flow_count);
  bench.report();
  if (shard.counters()[which.counts] < which.at_least) {
    std::fprintf(stderr, "the connections were not intercepted as wanted: %s\n", which.name);
    return false;
  }
  for (int i = 0; i < warm_up_rounds; ++i) bench.round(false);
  std::vector<double> runs;
  const std::uint64_t sent_before = sink.sent(Side::radio);
  const std::uint64_t acknowledged_before = sink.sent(Side::core);
  for (int run = 0; run < 9; ++run) {
    const std::uint64_t cycles = bench.cycles;
    const std::uint64_t segments = bench.segments;
    for (int i = 0; i < rounds / 9 + 1; ++i) bench.round(true);
    runs.push_back(static_cast<double>(bench.cycles - cycles) / static_cast<double>(bench.segments - segments));
  }
  const std::uint64_t relayed = sink.sent(Side::radio) - sent_before;
  if (relayed != bench.segments) {
    std::fprintf(stderr, "%llu segments offered, %llu relayed\n", static_cast<unsigned long long>(bench.segments),
                 static_cast<unsigned long long>(relayed));
    return false;
  }
  std::printf("relayed segments                    %llu\n", static_cast<unsigned long long>(relayed));
  std::printf("acknowledgements per segment        %.2f\n",
              static_cast<double>(sink.sent(Side::core) - acknowledged_before) / static_cast<double>(relayed));
  std::printf("cycles per relayed segment          %.0f (median of %zu runs; least %.0f, most %.0f)\n", median(runs),
              runs.size(), *std::min_element(runs.begin(), runs.end()), *std::max_element(runs.begin(), runs.end()));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  const Case* const which = find_case(argc > 2 ? argv[2] : "split");
  if (rounds < 1 || which == nullptr) {
    std::fprintf(stderr, "usage: relay_bench [ROUNDS [split|journal|unexposed|regulate|bypass]]\n");
    return 2;
  }
  dpdk::Eal eal(dpdk::EalConfig{});
  if (!run(*which, rounds)) return 1;
  if (which == cases.data()) std::printf("bytes per idle connection pair      %zu (budget 1024)\n", memory_of_a_pair());
  return 0;
}
