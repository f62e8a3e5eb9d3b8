// A whole shard between model hosts, with little packet memory: the input says who opens connections, writes, closes,
// stops reading, what is lost, repeated, damaged, forged, cut in fragments or said by routers, what the Node-B reports,
// what the operator orders, and when time passes. Nothing may crash, leak or spin; every frame has one outcome; what
// was not forged arrives as it was written, or its connection ends visibly.
#include <rte_eal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/fuzz/shard/forgery.hpp"
#include "tests/fuzz/shard/lab.hpp"

namespace {

using namespace sluice;
using namespace sluice::proxy;
using namespace sluice::proxy::fuzz;
using namespace std::chrono_literals;

struct Pools {
  packet::PacketPool shard{"shard", 1023};
  packet::PacketPool hosts{"hosts", 8191};
};
std::unique_ptr<Pools>& pools() {
  static std::unique_ptr<Pools> slot;
  return slot;
}

/// Every mode in each of its interceptions.
const std::vector<PolicySettings>& all_settings() {
  static const std::vector<PolicySettings> all = [] {
    std::vector<PolicySettings> list;
    for (const ModeText& text : mode_table) {
      for (const Intercept intercept : {Intercept::split, Intercept::regulate}) {
        const bool regulates = intercept == Intercept::regulate;
        const bool can = regulates ? can_regulate(text.mode) : can_split(text.mode) || text.mode == Mode::bypass;
        if (!can) continue;
        PolicySettings settings;
        settings.mode = text.mode;
        settings.intercept = intercept;
        if (regulates) settings.smvs.law = ControllerLocation::acks;
        list.push_back(settings);
      }
    }
    return list;
  }();
  return all;
}

/// What can be put in force: one set of settings for all, or also another one for the UEs of IPv6.
const Policies& policies(std::uint8_t which, std::uint8_t other) {
  static std::vector<std::unique_ptr<Policies>> all;
  if (all.empty()) {
    for (const PolicySettings& settings : all_settings()) {
      for (const PolicySettings& second : all_settings()) {
        all.push_back(std::make_unique<Policies>());
        all.back()->otherwise = settings;
        all.back()->list.push_back({{*IpPrefix::parse("fd00::/16")}, {}, {}, {}, second});
      }
      all.push_back(std::make_unique<Policies>());
      all.back()->otherwise = settings;
    }
  }
  const std::size_t row = all_settings().size() + 1;
  return *all[which % all_settings().size() * row + other % row];
}

tcp::EndpointConfig tcp_config(std::uint8_t how) {
  tcp::EndpointConfig config;
  // Short, so that whatever can happen does within the time that a run takes.
  config.max_rto = 4s;
  config.congestion = (how & 1) != 0 ? tcp::CongestionAlgorithm::newreno : tcp::CongestionAlgorithm::cubic;
  constexpr std::array models{tcp::CongestionAlgorithm::bbr, tcp::CongestionAlgorithm::bbr3,
                              tcp::CongestionAlgorithm::copa};
  if ((how & 2) != 0) config.congestion = models[how % models.size()];
  config.pacing = (how & 4) != 0;
  if ((how & 8) != 0) config.max_out_of_order = 16;
  return config;
}

ShardConfig shard_config(Input& input) {
  ShardConfig config;
  static_cast<PolicySettings&>(config) = all_settings()[input.byte() % all_settings().size()];
  const std::uint8_t how = input.byte();
  config.tcp = tcp_config(how);
  config.smvs.law = (how & 16) != 0 ? ControllerLocation::proxy : ControllerLocation::nodeb;
  config.accept_partial_checksums = {(how & 32) != 0, (how & 32) != 0};
  config.control_group = (how & 64) != 0 ? 0.5 : 0;
  if ((how & 128) != 0) config.ue_prefixes = {*IpPrefix::parse("10.0.0.0/8"), *IpPrefix::parse("fd00::/16")};
  const std::uint8_t limits = input.byte();
  config.limits.max_flows = (limits & 1) != 0 ? 4 : 32;
  config.limits.max_bearers = (limits & 2) != 0 ? 2 : 8;
  config.limits.relay_buffer = Bytes((limits & 4) != 0 ? 65'536 : 1'000'000);
  if ((limits & 8) != 0) config.limits.exposure_per_flow = Bytes((limits & 16) != 0 ? 0 : 5000);
  if ((limits & 32) != 0) config.limits.exposure_per_bearer = Bytes((limits & 64) != 0 ? 0 : 8000);
  if ((limits & 128) != 0) config.scone_link_share = 0.5;
  if ((limits & 16) != 0) config.smvs.uplink = Uplink::aqm;
  config.timeouts.handshake = 5s;
  config.timeouts.idle = 20s;
  return config;
}

class Run {
 public:
  explicit Run(Input input)
      : input_(input), hosts_(tcp_config(0)), lab_(shard_config(input_), hosts_, {pools()->shard, pools()->hosts}) {}

  void run() {
    while (!input_.empty()) act();
    settle();
  }

 private:
  /// A connection that exists, or nothing.
  Connection* some() { return lab_.at(input_.byte()); }
  static Side side_of(std::uint8_t what) { return (what & 0x80) != 0 ? Side::core : Side::radio; }

  void act() {
    const std::uint8_t what = input_.byte();
    const std::uint8_t kind = what & 0x1fU;
    if (kind < 8) return act_as_host(kind, what);
    if (kind < 16) return act_as_network(kind, what);
    if (kind < 21) return act_as_stranger(kind, side_of(what));
    if (kind < 27) return act_as_operator(kind, what);
    if (kind == 27) return speak_of_others();
    // Most of what happens: everything arrives.
    lab_.exchange(4);
    lab_.pass(10ms, true);
  }
  void act_as_host(std::uint8_t kind, std::uint8_t what) {
    const Side side = side_of(what);
    switch (kind) {
      case 0:
        return open(side);
      case 1:
      case 2:
        return write(side, 1U << (what >> 5U & 3U));
      case 3:
        return on_end(side, [&](End& end) { end.endpoint.announce_urgent(end.endpoint.snd_nxt() + input_.byte()); });
      case 4:
        return on_end(side, [](End& end) { end.endpoint.finish(); });
      case 5:
        return on_end(side, [](End& end) { end.endpoint.abort(); });
      case 6:
        return on_end(side, [&](End& end) { end.endpoint.set_receive_room(Bytes(input_.byte() * 300)); });
      default:
        return on_end(side, [](End& end) { end.endpoint.send_keepalive(); });
    }
  }
  void act_as_network(std::uint8_t kind, std::uint8_t what) {
    const Side side = side_of(what);
    const bool other = (what & 0x40) != 0;
    switch (kind) {
      case 8:
        return lab_.to_shard(side, input_.byte(), other);
      case 9:
        return lab_.to_host(side, input_.byte(), other);
      case 10:
        return lose(side, other);
      case 11:
        return damage(side);
      case 12:
        return disguise_next(side);
      case 13:
        return cut_next(side);
      case 14:
        return lab_.pass(std::chrono::milliseconds(1 + input_.byte()), other);
      default:
        return lab_.pass(std::chrono::milliseconds(50 * input_.byte()), other);
    }
  }
  void act_as_stranger(std::uint8_t kind, Side side) {
    switch (kind) {
      case 16:
        return forge(side);
      case 17:
        return flood(side);
      case 18:
        return error_from_router(side);
      case 19:
        return others(side);
      default:
        return lab_.put(side, some_bytes());
    }
  }
  void act_as_operator(std::uint8_t kind, std::uint8_t what) {
    switch (kind) {
      case 21:
        return report();
      case 22:
        return order(what >> 5U);
      case 23:
        return lab_.shard.apply(policies(input_.byte(), input_.byte()), lab_.now);
      case 24:
        return observe();
      case 25:
        return take_buffers(input_.byte() * 4U);
      default:
        return taken_.clear();
    }
  }

  void open(Side initiator) {
    const std::uint8_t who = input_.byte();
    const std::size_t slot = who % Lab::connections;
    Connection* const old = lab_.at(slot);
    if (old != nullptr && !(old->ends[0].closed() && old->ends[1].closed())) return;
    const bool v6 = (who & 0x40) != 0;
    const auto number = static_cast<std::uint8_t>(1 + (who >> 3U) % 3U);
    IpAddress ue = IpAddress::v4(10, 45, 0, number);
    IpAddress server = IpAddress::v4(198, 51, 100, 7);
    if (v6) {
      ue = *IpAddress::parse("fd00:45::" + std::to_string(number));
      server = *IpAddress::parse("2001:db8::7");
    }
    lab_.open(slot, ue, server, initiator, {syn_options(), syn_options()});
  }
  tcp::SynOptions syn_options() {
    const std::uint8_t how = input_.byte();
    return {.mss = static_cast<std::uint16_t>((how & 1) != 0 ? 88 : 1400),
            .window_scale = static_cast<std::uint8_t>(how >> 5U),
            .has_window_scale = (how & 2) != 0,
            .sack_permitted = (how & 4) != 0,
            .timestamps = (how & 8) != 0,
            .ecn = (how & 16) != 0};
  }

  template <typename Action>
  void on_end(Side side, Action action) {
    Connection* const connection = some();
    if (connection == nullptr || !connection->end(side).begun) return;
    action(connection->end(side));
    lab_.serve(connection->end(side));
  }
  void write(Side side, std::uint32_t packets) {
    const std::uint32_t length = 1U + input_.byte() * 6U;
    on_end(side, [&](End& end) {
      for (std::uint32_t i = 0; i < packets; ++i) end.write(length);
    });
  }

  void lose(Side side, bool to_host) {
    auto& frames = (to_host ? lab_.wire_to_host(side) : lab_.wire_from_host(side)).frames;
    if (!frames.empty()) frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(input_.byte() % frames.size()));
  }
  /// One bit of the next frame, which a checksum finds wherever it matters.
  void damage(Side side) {
    auto& frames = lab_.wire_from_host(side).frames;
    if (frames.empty() || lab_.takes_partial_checksums()) return;
    const std::uint32_t bit = input_.word() % (static_cast<std::uint32_t>(frames.front().size() - ip_at) * 8U);
    frames.front()[ip_at + bit / 8U] ^= static_cast<std::uint8_t>(1U << bit % 8U);
    lab_.to_shard(side);
  }
  void disguise_next(Side side) {
    auto& frames = lab_.wire_from_host(side).frames;
    if (frames.empty()) return;
    lab_.record_unreadable(side);
    disguise(frames.front());
    lab_.to_shard(side);
  }
  void cut_next(Side side) {
    auto& frames = lab_.wire_from_host(side).frames;
    if (frames.empty()) return;
    const std::uint8_t where = input_.byte();
    auto parts = cut(frames.front(), std::size_t{8} * (1U + where % 64U), fragment_id_++);
    if (!parts) return;
    lab_.record_unreadable(side);
    frames.pop_front();
    if ((where & 0x40) != 0) std::swap(parts->first, parts->second);
    lab_.put(side, parts->first);
    if ((where & 0x80) == 0) lab_.put(side, parts->second);
  }

  void forge(Side side) {
    Connection* const connection = some();
    if (connection == nullptr) return;
    connection->forged = true;
    lab_.disturb();
    const End& end = connection->end(side);
    Frame frame = frame_of(pools()->hosts, end, forge_segment(input_, end, lab_.now));
    const std::uint8_t how = input_.byte();
    if ((how & 1) != 0) disguise(frame);
    if ((how & 2) != 0) bend_options(frame, input_.byte(), input_.byte());
    if (!frame.empty()) lab_.put(side, frame);
  }
  /// SYNs, or segments of connections that nobody opened.
  void flood(Side side) {
    lab_.disturb();
    const std::uint8_t how = input_.byte();
    End::Parts parts;
    parts.side = side;
    parts.options = syn_options();
    for (std::uint8_t i = 0; i < how % 64; ++i) {
      const IpAddress ue = IpAddress::v4(10, 46, 0, (how & 0x40) != 0 ? i : std::uint8_t{1});
      parts.addresses = {ue, IpAddress::v4(198, 51, 100, 8), static_cast<std::uint16_t>(1000 + i), 80};
      if (side == Side::core) parts.addresses = parts.addresses.reversed();
      const End stranger(parts);
      tcp::Segment segment;
      segment.seq = tcp::SeqNum(i * 1000U);
      segment.flags.bits = (how & 0x80) != 0 ? input_.byte() : std::uint8_t{tcp::Flags::syn_bit};
      segment.syn = parts.options;
      lab_.put(side, frame_of(pools()->hosts, stranger, segment));
    }
  }
  void error_from_router(Side side) {
    Connection* const connection = some();
    const auto& frames = lab_.wire_to_host(side).frames;
    if (connection == nullptr || frames.empty()) return;
    const Frame error =
        router_error(pools()->hosts, input_, frames[input_.byte() % frames.size()], connection->end(side));
    if (!error.empty()) lab_.put(side, error);
  }
  void others(Side side) {
    Connection* const connection = some();
    if (connection != nullptr) lab_.put(side, datagram(pools()->hosts, input_, connection->end(side)));
  }
  Frame some_bytes() {
    Frame frame(input_.byte());
    for (std::uint8_t& byte : frame) byte = input_.byte();
    return frame;
  }

  void report() {
    Connection* const connection = some();
    const IpAddress ue = connection != nullptr ? connection->ends[0].addresses().src : IpAddress::v4(10, 45, 0, 1);
    lab_.shard.on_report(fuzz::report(input_, ue, lab_.now, ++reports_), lab_.now);
    lab_.check();
  }
  /// A Node-B that leaves out UEs.
  void speak_of_others() {
    const proxy::OmissionNotice notice = fuzz::omission(input_, lab_.now, ++reports_);
    lab_.shard.on_omissions({&notice, 1}, lab_.now);
    lab_.check();
  }
  void order(unsigned which) {
    Connection* const connection = some();
    std::optional<IpAddress> ue;
    if (connection != nullptr && (which & 1U) != 0) ue = connection->ends[0].addresses().src;
    if ((which & 4U) != 0) return lab_.shard.drain((which & 1U) != 0);
    if ((which & 2U) != 0) {
      lab_.shard.split_again(ue);
      return;
    }
    lab_.shard.release(ue, lab_.now);
    lab_.check();
  }
  void observe() {
    std::vector<FlowInfo> flows;
    lab_.shard.describe_flows(flows, 100);
    std::vector<BearerInfo> bearers;
    lab_.shard.describe_bearers(bearers, 100);
    std::vector<control::feedback::BearerStatus> statuses;
    lab_.shard.collect_status(statuses, (input_.byte() & 1) != 0);
    lab_.shard.sample_exposure(8);
    lab_.shard.sample_flow_stats(8, lab_.now);
    const StayingFlows staying = lab_.shard.staying();
    require(staying.total <= lab_.shard.flow_count());
  }
  void take_buffers(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      packet::Packet packet = pools()->shard.allocate();
      if (!packet) return;
      taken_.push_back(std::move(packet));
    }
  }

  /// Nothing more goes wrong, everybody reads: what is under way arrives. What was forged is broken off.
  void settle() {
    taken_.clear();
    for (std::size_t slot = 0; slot < Lab::connections; ++slot) {
      Connection* const connection = lab_.at(slot);
      if (connection == nullptr) continue;
      for (End& end : connection->ends) {
        end.endpoint.set_receive_room(Bytes(60'000));
        if (connection->forged) end.endpoint.abort();
        lab_.serve(end);
      }
    }
    lab_.exchange(64);
    lab_.pass(100s, true);
    lab_.check_delivered();
    finish_all();
    lab_.pass(100s, true);
    lab_.check_delivered();
    lab_.check_at_rest();
  }
  void finish_all() {
    for (std::size_t slot = 0; slot < Lab::connections; ++slot) {
      Connection* const connection = lab_.at(slot);
      if (connection == nullptr) continue;
      for (End& end : connection->ends) {
        end.endpoint.finish();
        lab_.serve(end);
      }
    }
  }

  Input input_;
  tcp::EndpointConfig hosts_;
  std::vector<packet::Packet> taken_;
  std::uint64_t reports_ = 0;
  std::uint16_t fragment_id_ = 1;
  Lab lab_;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  std::array<std::string, 9> words = {(*argv)[0], "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",
                                      "-m",       "64",        "--log-level=3", "-l0"};
  std::array<char*, words.size()> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  require(rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0);
  pools() = std::make_unique<Pools>();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  Run(Input({data, size})).run();
  require(pools()->shard.in_use() == 0);
  require(pools()->hosts.in_use() == 0);
  return 0;
}
