// What the dearest packets cost that anybody can send, beside an ordinary one. Each case brings a shard into the state
// in which its packet costs most and then sends some of them. Callgrind (--instr-atstart=no --collect-atstart=no)
// counts what those take, and writes it down at the end of each case; what comes before runs several times as fast,
// since it looks at nothing of it. Prints, for each case, its name and how many packets were measured. costs.py makes a
// table of both.

#include <rte_mbuf.h>
#include <valgrind/callgrind.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/engine/shard/shard.hpp"

namespace {

using namespace sluice;
using proxy::Side;
using tcp::Flags;

constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
constexpr std::array<std::uint8_t, 6> server_mac = {2, 0, 0, 0, 0, 2};
constexpr std::uint32_t ue_isn = 1000;
constexpr std::uint32_t server_isn = 500'000;
constexpr std::uint8_t scale = 8;  ///< window scale of all hosts
constexpr std::uint32_t repeats = 100;
constexpr std::uint32_t holes = 4000;

/// Receives the packets that the shard sends.
class Sink final : public proxy::Transmitter {
 public:
  void transmit(Side out, std::span<packet::Packet> burst, Instant) override {
    for (packet::Packet& packet : burst) {
      packet::Parsed parsed;
      if (packet::parse(packet, parsed) == packet::ParseResult::tcp) record(out, parsed.segment);
      packet.reset();
    }
  }
  std::uint32_t end = 0;   ///< end of the newest segment towards the radio
  std::uint32_t edge = 0;  ///< right edge of the window last advertised to the server

 private:
  void record(Side out, const tcp::Segment& segment) {
    if (out == Side::radio) end = segment.seq.raw() + segment.payload_len;
    if (out == Side::core && !segment.flags.syn()) edge = segment.ack.raw() + (std::uint32_t{segment.window} << scale);
  }
};

/// Returns the addresses of a connection of a UE to one server.
packet::Addresses addresses_of(std::uint32_t ue, std::uint16_t port = 20'000) {
  packet::Addresses to_server;
  to_server.src = IpAddress::v4(10, static_cast<std::uint8_t>(45 + (ue >> 16)), static_cast<std::uint8_t>(ue >> 8),
                                static_cast<std::uint8_t>(ue));
  to_server.dst = IpAddress::v4(198, 51, 100, 1);
  to_server.src_port = port;
  to_server.dst_port = 80;
  return to_server;
}

/// Runs a shard between hosts that send what each case needs.
class Scene {
 public:
  explicit Scene(proxy::Intercept intercept = proxy::Intercept::split)
      : shard_(config(intercept), pool_, sink_, {1, 2}, Instant{}) {}

  packet::Packet frame(bool from_ue, const packet::Addresses& to_server, tcp::Segment segment, std::uint32_t payload) {
    packet::Packet packet = allocate(payload);
    segment.payload_len = static_cast<std::uint16_t>(payload);
    const auto header = packet::make_template(from_ue ? ue_mac : server_mac, from_ue ? server_mac : ue_mac,
                                              to_server.src.is_v4() ? 4 : 6);
    packet::write_headers(packet, header, from_ue ? to_server : to_server.reversed(), segment, 0, 1);
    return packet;
  }
  static tcp::Segment segment(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack) {
    tcp::Segment segment;
    segment.flags.bits = flags;
    segment.seq = tcp::SeqNum(seq);
    segment.ack = tcp::SeqNum(ack);
    segment.window = segment.flags.syn() ? 65'535 : 16'384;
    segment.syn = {1460, scale, true, true, false};
    return segment;
  }
  packet::Packet syn(const packet::Addresses& a, std::uint32_t number = ue_isn) {
    return frame(true, a, segment(Flags::syn_bit, number, 0), 0);
  }
  packet::Packet syn_ack(const packet::Addresses& a) {
    return frame(false, a, segment(Flags::syn_bit | Flags::ack_bit, server_isn, ue_isn + 1), 0);
  }
  /// Offsets from the first byte of the server's data.
  packet::Packet data(const packet::Addresses& a, std::uint32_t at, std::uint32_t size) {
    return frame(false, a, segment(Flags::ack_bit, server_isn + 1 + at, ue_isn + 1), size);
  }
  packet::Packet ack_of_ue(const packet::Addresses& a, std::uint32_t at, std::uint16_t window = 16'384) {
    tcp::Segment ack = segment(Flags::ack_bit, ue_isn + 1, server_isn + 1 + at);
    ack.window = window;
    return frame(true, a, ack, 0);
  }
  /// Returns an ICMP error of a router on the UE's side about the segment that carries those bytes.
  packet::Packet router_says(const packet::Addresses& a, const packet::IcmpHeader& icmp, std::uint32_t at) {
    packet::Packet quoted = data(a, at, 1400);
    packet::Packet packet = allocate(packet::ipv4_length + packet::tcp_length);
    std::memcpy(packet.data(), quoted.data() + packet::ethernet_length, packet.size());
    const packet::Addresses from_router{IpAddress::v4(192, 0, 2, 1), a.dst, 0, 0};
    packet::write_icmp_headers(packet, packet::make_template(ue_mac, server_mac, 4), from_router, icmp, 9);
    return packet;
  }

  // --- unmeasured

  void put(Side in, packet::Packet packet) {
    shard_.receive(in, {&packet, 1}, now_);
    now_ += std::chrono::microseconds(1);
  }
  /// Up to where only the UE's last word is missing.
  void half_open(const packet::Addresses& a) {
    put(Side::radio, syn(a));
    put(Side::core, syn_ack(a));
  }
  void open(const packet::Addresses& a) {
    half_open(a);
    put(Side::radio, ack_of_ue(a, 0));
  }
  void wait(Duration duration) {
    now_ += duration;
    shard_.advance(now_);
  }
  /// Makes the server send until `bytes` are on their way to the UE, in segments of `size`; returns where they begin.
  std::uint32_t fill(const packet::Addresses& a, std::uint32_t size, std::uint32_t bytes) {
    std::uint32_t sent = 0;
    std::uint32_t acked = 0;
    const std::uint32_t begin = server_isn + 1;
    for (int round = 0; round < 200; ++round) {
      for (; sent < acked + bytes && begin + sent + size <= sink_.edge; sent += size)
        put(Side::core, data(a, sent, size));
      const std::uint32_t arrived = sink_.end - begin;
      if (arrived >= acked + bytes) return acked;
      acked = arrived;  // so that the windows open
      wait(std::chrono::milliseconds(20));
      put(Side::radio, ack_of_ue(a, acked));
    }
    std::fprintf(stderr, "only %u bytes are under way\n", sink_.end - begin - acked);
    std::exit(1);
  }
  void abort_all() { shard_.abort_all(); }
  [[nodiscard]] std::uint32_t flows() const { return shard_.flow_count(); }

  // --- measured

  void cost(Side in, packet::Packet packet) {
    begin_counting();
    CALLGRIND_TOGGLE_COLLECT;
    shard_.receive(in, {&packet, 1}, now_);
    CALLGRIND_TOGGLE_COLLECT;
    now_ += std::chrono::microseconds(1);
    ++measured_;
  }
  /// Measures the work that is due after `duration`, divided by `packets`.
  void cost_of_time(Duration duration, std::uint32_t packets) {
    begin_counting();
    now_ += duration;
    do {
      CALLGRIND_TOGGLE_COLLECT;
      shard_.advance(now_);
      CALLGRIND_TOGGLE_COLLECT;
    } while (shard_.next_deadline() <= now_);
    measured_ += packets;
  }
  [[nodiscard]] std::uint32_t measured() const { return measured_; }

 private:
  void begin_counting() const {
    if (measured_ > 0) return;
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
  }
  static proxy::ShardConfig config(proxy::Intercept intercept) {
    proxy::ShardConfig config;
    config.mode = intercept == proxy::Intercept::split ? proxy::Mode::i_tcp : proxy::Mode::wrs;
    config.intercept = intercept;
    config.limits.relay_buffer = Bytes(4 << 20);
    config.limits.max_bearers = 65'536;
    return config;
  }
  packet::Packet allocate(std::uint32_t payload) {
    packet::Packet packet = pool_.allocate();
    if (!packet) {
      std::fprintf(stderr, "no packet buffers left\n");
      std::exit(1);
    }
    std::memset(packet.append(static_cast<std::uint16_t>(payload)), 0, payload);
    return packet;
  }

  packet::PacketPool pool_{"cost", 32768};
  Sink sink_;
  proxy::Shard shard_;
  Instant now_{std::chrono::seconds(1000)};
  std::uint32_t measured_ = 0;
};

void ordinary(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  for (std::uint32_t i = 0; i < 2 * repeats; ++i) {
    if (i < repeats) {
      scene.put(Side::core, scene.data(a, i * 1400, 1400));
      scene.put(Side::radio, scene.ack_of_ue(a, (i + 1) * 1400));
    } else {
      scene.cost(Side::core, scene.data(a, i * 1400, 1400));
      scene.cost(Side::radio, scene.ack_of_ue(a, (i + 1) * 1400));
    }
  }
}

void forwarded(Scene& scene) {
  for (std::uint32_t i = 0; i < repeats; ++i) scene.cost(Side::core, scene.data(addresses_of(i), 77, 100));
}

/// Segments behind thousands of holes; then some of them once more.
void duplicates_behind_holes(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  constexpr std::uint32_t size = 300;
  for (std::uint32_t i = 0; i < holes; ++i) scene.put(Side::core, scene.data(a, 1 + i * (size + 1), size));
  for (std::uint32_t i = 0; i < repeats; ++i) {
    const std::uint32_t number = i * (holes / repeats) + 1;
    scene.cost(Side::core, scene.data(a, 1 + number * (size + 1), size));
  }
}

/// Each segment opens a new hole in front of all earlier ones.
void new_holes(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  constexpr std::uint32_t size = 300;
  for (std::uint32_t i = holes; i > repeats; --i) scene.put(Side::core, scene.data(a, 1 + i * (size + 1), size));
  for (std::uint32_t i = repeats; i > 0; --i) scene.cost(Side::core, scene.data(a, 1 + i * (size + 1), size));
}

/// One segment covers as many small runs as there can be.
void covering_segment(Scene& scene) {
  for (std::uint32_t k = 0; k < repeats / 10; ++k) {
    const auto a = addresses_of(k);
    scene.open(a);
    for (std::uint32_t i = 0; i < 700; ++i) scene.put(Side::core, scene.data(a, 2 + i * 2, 1));
    scene.cost(Side::core, scene.data(a, 1, 1400));
  }
}

void single_bytes_out_of_order(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  for (std::uint32_t i = 0; i < holes; ++i) scene.put(Side::core, scene.data(a, 20'000 - 2 * i, 1));
  for (std::uint32_t i = 0; i < repeats; ++i) scene.cost(Side::core, scene.data(a, 100'000 - i, 1));
}

void single_bytes_in_order(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  for (std::uint32_t i = 0; i < repeats; ++i) scene.cost(Side::core, scene.data(a, i, 1));
}

/// Reports of segments that lie anywhere in a long queue.
void sack_of_many_holes(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  constexpr std::uint32_t size = 300;
  constexpr std::uint32_t count = 3000;
  const std::uint32_t una = scene.fill(a, size, size * count);
  for (std::uint32_t i = 0; i < repeats; ++i) {
    tcp::Segment ack = Scene::segment(Flags::ack_bit, ue_isn + 1, server_isn + 1 + una);
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t at = server_isn + 1 + una + size * (count - 2 - (i * 7 + k * 641) % (count / 2));
      ack.sack_blocks.at(k) = {tcp::SeqNum(at), tcp::SeqNum(at + size)};
    }
    ack.sack_count = 4;
    scene.cost(Side::radio, scene.frame(true, a, ack, 0));
  }
}

void window_updates(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  scene.fill(a, 300, 600'000);
  for (std::uint32_t i = 0; i < repeats; ++i) {
    scene.cost(Side::radio, scene.ack_of_ue(a, 0, static_cast<std::uint16_t>(i % 2 == 0 ? 0 : 16'384)));
  }
}

/// Measures a SYN flood: the tables are full of other connections.
void syns_of_new_ues(Scene& scene) {
  constexpr std::uint32_t before = 20'000;
  for (std::uint32_t i = 0; i < before; ++i) scene.put(Side::radio, scene.syn(addresses_of(i)));
  for (std::uint32_t i = 0; i < repeats; ++i) scene.cost(Side::radio, scene.syn(addresses_of(before + i)));
}

/// Measures a SYN flood whose servers answer.
void answers_to_new_ues(Scene& scene) {
  constexpr std::uint32_t before = 20'000;
  for (std::uint32_t i = 0; i < before; ++i) scene.half_open(addresses_of(i));
  for (std::uint32_t i = 0; i < repeats; ++i) {
    scene.put(Side::radio, scene.syn(addresses_of(before + i)));
    scene.cost(Side::core, scene.syn_ack(addresses_of(before + i)));
  }
}

/// In the name of a connection that is open, each with another number.
void forged_syns(Scene& scene) {
  for (std::uint32_t i = 0; i < holes; ++i) scene.open(addresses_of(i));
  for (std::uint32_t i = 0; i < repeats; ++i) scene.cost(Side::radio, scene.syn(addresses_of(i * 31), 77 + i));
}

void forged_resets(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  scene.fill(a, 1400, 1'000'000);
  for (std::uint32_t i = 0; i < repeats; ++i) {
    scene.cost(Side::radio, scene.frame(true, a, Scene::segment(Flags::rst_bit, ue_isn + 2 + i * 64, 0), 0));
  }
}

/// Servers, or UEs, of a /64 that was chosen so that a factor of a hash that multiplies the words of an address is
/// zero.
void chosen(Scene& scene, packet::Addresses a, IpAddress& address, std::size_t fixed, std::uint64_t factor) {
  a.src_port = 20'000;
  a.dst_port = 80;
  std::memcpy(address.octets.data() + fixed, &factor, sizeof factor);
  const auto host = [&](std::uint32_t number) {
    std::memcpy(address.octets.data() + 8 - fixed, &number, sizeof number);
  };
  for (std::uint32_t i = 0; i < holes; ++i) {
    host(i);
    a.dst = address;
    scene.open(a);
  }
  for (std::uint32_t i = 0; i < repeats; ++i) {
    host(holes + i);
    a.dst = address;
    scene.cost(Side::core, scene.data(a, 0, 100));
  }
}

void servers_of_a_chosen_prefix(Scene& scene) {
  packet::Addresses a;
  a.src = *IpAddress::parse("2001:db8::2");
  IpAddress server;
  chosen(scene, a, server, 0, 0xc2b2ae3d27d4eb4fU);
}

packet::Packet as_fragment(packet::Packet packet, std::uint16_t field) {
  std::uint8_t* const ip = packet.data() + packet::ethernet_length;
  packet::store_be16(ip + 6, field);
  packet::store16(ip + 10, 0);
  packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, packet::ipv4_length})));
  return packet;
}

/// Measures fragments of a UE with as many pending handshakes as possible: later fragments, and first ones that match
/// a handshake.
void fragments_beside_half_open(Scene& scene) {
  for (std::uint16_t port = 1; port <= 16'000; ++port) scene.half_open(addresses_of(1, port));
  for (std::uint16_t i = 0; i < repeats; ++i) {
    const auto a = addresses_of(1, static_cast<std::uint16_t>(1 + i * 100));
    if (i % 2 == 0) {
      scene.cost(Side::core, as_fragment(scene.data(a, 0, 64), 1));
    } else {
      scene.cost(Side::radio, as_fragment(scene.ack_of_ue(a, 0), 0x2000));
    }
  }
}

/// First parts that name a connection and have its numbers: it is released.
void fragments_of_connections(Scene& scene) {
  for (std::uint32_t i = 0; i < holes; ++i) scene.open(addresses_of(i));
  for (std::uint32_t i = 0; i < repeats; ++i) {
    scene.cost(Side::core, as_fragment(scene.data(addresses_of(i), 0, 64), 0x2000));
  }
}

/// Errors that quote what is outstanding, among much of it.
void errors_of_routers(Scene& scene) {
  const auto a = addresses_of(1);
  scene.open(a);
  const std::uint32_t una = scene.fill(a, 1400, 900'000);
  constexpr packet::IcmpHeader unreachable{3, 1, 0};
  for (std::uint32_t i = 0; i < repeats; ++i) {
    scene.cost(Side::radio, scene.router_says(a, unreachable, una + 1400 * (i * 6)));
  }
}

/// Measures the timers when all connections expire together, per connection.
void ends_of_many_at_once(Scene& scene) {
  constexpr std::uint32_t connections = 8'000;
  for (std::uint32_t i = 0; i < connections; ++i) {
    scene.open(addresses_of(i));
    scene.put(Side::core, scene.data(addresses_of(i), 0, 100));
  }
  scene.abort_all();
  // All wait for an acknowledgement, and their timers are due at once.
  scene.cost_of_time(std::chrono::seconds(3), connections);
  scene.cost_of_time(std::chrono::milliseconds(1), 1);
}

struct Case {
  const char* name;
  void (*run)(Scene&);
  proxy::Intercept intercept = proxy::Intercept::split;
};
constexpr std::array cases = {
    Case{"ordinary", ordinary},
    Case{"forwarded", forwarded},
    Case{"duplicates_behind_holes", duplicates_behind_holes},
    Case{"new_holes", new_holes},
    Case{"covering_segment", covering_segment},
    Case{"single_bytes_out_of_order", single_bytes_out_of_order},
    Case{"single_bytes_in_order", single_bytes_in_order},
    Case{"sack_of_many_holes", sack_of_many_holes},
    Case{"window_updates", window_updates},
    Case{"syns_of_new_ues", syns_of_new_ues},
    Case{"syns_of_new_ues_end_to_end", syns_of_new_ues, proxy::Intercept::regulate},
    Case{"answers_to_new_ues", answers_to_new_ues},
    Case{"forged_syns", forged_syns},
    Case{"forged_syns_end_to_end", forged_syns, proxy::Intercept::regulate},
    Case{"forged_resets", forged_resets},
    Case{"servers_of_a_chosen_prefix", servers_of_a_chosen_prefix},
    Case{"fragments_beside_half_open", fragments_beside_half_open},
    Case{"fragments_of_connections", fragments_of_connections},
    Case{"errors_of_routers", errors_of_routers},
    Case{"ends_of_many_at_once", ends_of_many_at_once},
};

void end_case(const char* name, std::uint32_t packets) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
  std::printf("%s %u\n", name, packets);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  dpdk::Eal eal(dpdk::EalConfig{});
  for (const Case& each : cases) {
    if (argc > 1 && std::strcmp(argv[1], each.name) != 0) continue;
    const auto scene = std::make_unique<Scene>(each.intercept);
    each.run(*scene);
    end_case(each.name, scene->measured());
  }
  return 0;
}
