// Declares every key of the proxy's configuration, with range, default, help text and the rules across keys. The
// reader, the printer and the reference visit these declarations (proxy/yaml). Invariant: a file that was accepted
// can be applied, apart from what the machine refuses at start.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/rss.hpp"
#include "dataplane/packet/pool_memory.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/laws.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"

namespace sluice::tcp {

using namespace std::chrono_literals;

void describe(config::Section& s, EndpointConfig& tcp) {
  static constexpr std::array congestion_algorithms = [] {
    std::array<config::Choice<CongestionAlgorithm>, congestion_table.size()> choices;
    for (std::size_t i = 0; i < choices.size(); ++i)
      choices[i] = {congestion_table[i].word, congestion_table[i].algorithm, congestion_table[i].text};
    return choices;
  }();
  s.choice("congestion", tcp.congestion, congestion_algorithms,
           "congestion control of legs that no rate controller limits");
  s.value("pacing", tcp.pacing, "pacing over the round trip, on legs that no rate controller limits");
  s.value("min_rto", tcp.min_rto, {1ms, 60s}, "shortest retransmission timeout (RFC 6298)");
  s.value("max_rto", tcp.max_rto, {1s, 10min}, "longest retransmission timeout");
  s.value("delayed_ack", tcp.delayed_ack, {0s, 500ms}, "longest delay of an ACK (RFC 1122: ≤ 0.5 s)");
  s.value("time_wait", tcp.time_wait, {0s, 4min}, "duration of TIME-WAIT");
  s.value("initial_window", tcp.initial_window_segments, {1, 100}, "initial congestion window in segments (RFC 6928)");
  s.value("max_retransmissions", tcp.max_retransmissions, {1, 100},
          "consecutive retransmissions after which a connection is reset");
  s.value("max_out_of_order", tcp.max_out_of_order, {16, 65'535},
          "out-of-order packets held per connection; beyond 4096 only as many as the advertised window needs");
  s.check(tcp.min_rto <= tcp.max_rto, "min_rto", "at most max_rto", config::Scalar<Duration>::format(tcp.min_rto));
}

}  // namespace sluice::tcp

namespace sluice::proxy {
namespace {

using config::Choice;
using config::Section;
using namespace std::chrono_literals;

constexpr std::array modes = [] {
  std::array<Choice<Mode>, mode_table.size()> choices;
  for (std::size_t i = 0; i < choices.size(); ++i)
    choices[i] = {mode_table[i].key, mode_table[i].mode, mode_table[i].text};
  return choices;
}();
constexpr Choice<Intercept> intercepts[] = {
    {"auto", Intercept::automatic, "`split` if the mode supports it, otherwise `regulate`"},
    {"split", Intercept::split, "terminates each connection and opens one TCP connection on each side"},
    {"regulate", Intercept::regulate,
     "keeps one end-to-end connection, rewrites windows and delays ACKs; needs a mode with a per-flow window "
     "controller, or smvs with smvs.law: acks"}};
constexpr Choice<ControllerLocation> controller_locations[] = {
    {"nodeb", ControllerLocation::nodeb, "the Node-B computes the allowance and reports it"},
    {"proxy", ControllerLocation::proxy, "the proxy computes the allowance from measurements that the Node-B reports"},
    {"acks", ControllerLocation::acks,
     "the proxy computes a window from the UE's ACKs; no reports are needed, but they correct it if they arrive"}};

constexpr Choice<WithoutReports> without_reports[] = {
    {"congestion-control", WithoutReports::congestion_control, "the ordinary congestion control of each connection"},
    {"acks", WithoutReports::acks, "the ACK-based controller"}};
constexpr Choice<CrossTraffic> cross_traffic_choices[] = {
    {"queue", CrossTraffic::queue,
     "packets wait in a fair queue of the UE (FQ-CoDel) while its window is used up; without reports, and without ACKs "
     "of "
     "a split or end-to-end connection of the UE, they are forwarded"},
    {"forward", CrossTraffic::forward, "packets are forwarded at once, and the controller counts them"}};
constexpr Choice<dpdk::PollMode> poll_modes[] = {
    {"busy", dpdk::PollMode::busy, "never sleeps; occupies a whole processor"},
    {"adaptive", dpdk::PollMode::adaptive,
     "sleeps when idle: until a port signals frames, or for short intervals if the port cannot signal"}};
constexpr Choice<FailOpen> fail_opens[] = {
    {"none", FailOpen::none,
     "frames are not forwarded between kernel interfaces; other devices behave as their driver does"},
    {"bridge", FailOpen::bridge,
     "a kernel bridge forwards every frame whenever the program does not run, however it ended; a watchdog ends a "
     "program that hangs for 3 s; needs CAP_NET_ADMIN and ports on kernel interfaces (net_af_packet, net_af_xdp)"}};
constexpr Choice<PartialChecksums> partial_checksums[] = {
    {"auto", PartialChecksums::by_driver,
     "`accept` for a port that receives frames from a kernel of this machine (net_af_packet, net_af_xdp, net_tap, live "
     "net_pcap, virtio), `refuse` for any other port and for the interface of a physical device"},
    {"accept", PartialChecksums::accept,
     "accepted from a host whose SYN had such a checksum, and completed in segments that are forwarded unsplit"},
    {"refuse", PartialChecksums::refuse, "dropped and counted"}};
constexpr Choice<LogLevel> log_levels[] = {{"trace", LogLevel::trace}, {"debug", LogLevel::debug},
                                           {"info", LogLevel::info},   {"warning", LogLevel::warning},
                                           {"error", LogLevel::error}, {"critical", LogLevel::critical},
                                           {"off", LogLevel::off}};
constexpr Choice<LogFormat> log_formats[] = {{"text", LogFormat::text, "one human-readable line per event"},
                                             {"json", LogFormat::json, "one JSON object per line"}};

bool accepts_partial_checksums(const PortSettings& port, PartialChecksums setting) {
  if (setting != PartialChecksums::by_driver) return setting == PartialChecksums::accept;
  return dpdk::carries_partial_checksums(port.device);
}

void check_interception(Section& s, const PolicySettings& settings) {
  const std::string mode(to_string(settings.mode));
  s.check(settings.intercept != Intercept::split || can_split(settings.mode), "intercept",
          "regulate or auto in mode " + mode, "split");
  const bool other_law = settings.mode == Mode::smvs && !settings.can_regulate();
  s.check(settings.intercept != Intercept::regulate || settings.can_regulate(), "intercept",
          "split or auto in mode " + mode + (other_law ? " if smvs.law is not acks" : ""), "regulate");
  s.check(settings.observed != Mode::observe && needs_feedback(settings.observed), "observed",
          "a mode whose controller uses reports or acknowledgements", std::string(to_string(settings.observed)));
}

/// Checks that both ports are kernel interfaces if fail_open is bridge, because a kernel bridge can join no others.
void check_fail_open(Section& s, const Config& config) {
  if (config.fail_open == FailOpen::none) return;
  for (const PortSettings* port : {&config.ports.radio, &config.ports.core}) {
    s.check(dpdk::driver_traits(port->device).kernel_interface, "fail_open",
            "none if a port is not on a kernel interface (net_af_packet, net_af_xdp)", port->device);
    const std::string interface = dpdk::device_argument(port->device, "iface").value_or("");
    const bool plain = std::all_of(interface.begin(), interface.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '@';
    });
    s.check(plain, "fail_open", "interfaces whose names are letters, digits and .-_@", interface);
  }
}

/// Checks that a feedback section exists if some mode needs reports.
void check_feedback(Section& s, const Config& config) {
  s.check(!config.shard.needs_reports() || config.feedback, "mode",
          "a feedback section together with mode " + std::string(to_string(config.shard.mode)), "none");
  s.check(!config.policies_need_reports() || config.feedback, "policies",
          "a feedback section together with a mode that uses reports", "none");
}

/// Checks that the HTTP server for metrics exists and can be reached, because it serves the live page.
void check_page(Section& s, const Config& config) {
  if (!config.page) return;
  s.check(config.metrics.listen.has_value(), "metrics.listen", "an address if there is a page", "none");
  if (config.metrics.listen) config::check_reach(s, *config.page, *config.metrics.listen, "metrics.listen");
}

/// Returns the number of packet buffers that the receive queues of both ports hold.
std::uint32_t port_buffers(const Config& config) {
  const auto held_by = [](const PortSettings& port) {
    return dpdk::buffers_held(port.device, port.receive_descriptors);
  };
  return config.shards.count * (held_by(config.ports.radio) + held_by(config.ports.core));
}

/// Checks that enough packet buffers remain for payload, because devices hold some from the start.
void check_memory(Section& s, const Config& config) {
  const std::uint32_t held = port_buffers(config);
  s.check(config.pool.buffers >= held + 1024, "pool",
          "at least " + std::to_string(held + 1024) + " buffers: what the ports' receive queues hold and 1024 more",
          std::to_string(config.pool.buffers));
  const Bytes wanted = config.shard.limits.relay_buffer;
  const Bytes reach = packet_memory(config).connection;
  s.advise(wanted == ShardLimits{}.relay_buffer || wanted <= reach, "limits",
           "relay_buffer of at most " + config::Scalar<Bytes>::format(reach) +
               ", which is what pool.buffers and limits.ue_share leave to one connection",
           config::Scalar<Bytes>::format(wanted));
  const Bytes needed = memory_for(config);
  s.check(!config.eal.memory || *config.eal.memory >= needed, "eal",
          "memory of at least " + config::Scalar<Bytes>::format(needed) + " for pool.buffers",
          config.eal.memory ? config::Scalar<Bytes>::format(*config.eal.memory) : "");
}

}  // namespace

std::string_view to_string(LogLevel level) {
  const auto* const at = std::find_if(std::begin(log_levels), std::end(log_levels),
                                      [level](const Choice<LogLevel>& each) { return each.value == level; });
  return at != std::end(log_levels) ? at->word : "info";
}

std::optional<LogLevel> parse_log_level(std::string_view word) {
  const auto* const at = std::find_if(std::begin(log_levels), std::end(log_levels),
                                      [word](const Choice<LogLevel>& each) { return each.word == word; });
  return at != std::end(log_levels) ? std::optional(at->value) : std::nullopt;
}

std::uint16_t buffer_room_for(const Config& config) {
  return std::max(packet::PacketPool::default_room,
                  dpdk::buffer_room(std::max(config.ports.radio.mtu, config.ports.core.mtu)));
}

PacketMemory packet_memory(const Config& config) {
  ShardLimits limits = config.shard.limits;
  limits.pool_sharers = config.shards.count;
  limits.port_buffers = port_buffers(config);
  const Bytes shard = BufferPoolBudget::whole(limits, config.pool.buffers);
  return {shard, Bytes(static_cast<double>(shard.count()) * limits.ue_share),
          BufferPoolBudget::largest(limits, config.pool.buffers)};
}

Bytes memory_for(const Config& config) {
  const std::uint64_t needed = packet::pool_footprint(config.pool.buffers, buffer_room_for(config)) +
                               dpdk::RssSteering::footprint(config.shards.count);
  constexpr std::uint64_t mib = 1 << 20;
  return Bytes(static_cast<std::int64_t>((needed / mib + 64) * mib));  // descriptors and driver memory
}

void describe(Section& s, Policy& policy) {
  PolicySettings& settings = policy.settings;
  s.list("ue", policy.ue, {0, 1024}, "prefixes of UEs; empty: every UE");
  s.list("server", policy.server, {0, 1024}, "prefixes of servers; empty: every server");
  s.list("ports", policy.ports, {0, 256}, "server ports; empty: every port");
  s.list("dscp", policy.dscp, {0, 64}, {0, 63}, "DSCP values of the SYN; empty: every value");
  s.choice("mode", settings.mode, modes, "TCP handling mode of these connections");
  s.choice("intercept", settings.intercept, intercepts, "interception of these connections");
  s.choice("observed", settings.observed, modes, "mode whose decisions are computed in mode observe");
  s.section(
      "smvs", [&settings](Section& below) { describe_at_proxy(below, settings.smvs); },
      "smvs settings of these connections; defaults are those of the top level");
  control::describe_laws(s, settings.laws);
  check_interception(s, settings);
}

void describe(Section& s, ShardLimits& limits) {
  s.value("max_flows", limits.max_flows, {1, 16'777'216},
          "tracked connections per shard; further ones are forwarded unsplit");
  s.value("max_bearers", limits.max_bearers, {1, 1'048'576},
          "UEs per shard; connections of further UEs are forwarded unsplit");
  s.value("relay_buffer", limits.relay_buffer, {Bytes(64 * 1024), Bytes(1 << 30)},
          "most bytes that one direction of a connection holds (acknowledged to the sender, not by the receiver) or "
          "advertises as window; the actual limit depends on its demand and on free packet buffers");
  s.value("exposure_per_flow", limits.exposure_per_flow, {Bytes(0), Bytes(1 << 30)},
          "most bytes of one direction of a connection that are acknowledged to the sender and not yet by the "
          "receiver; 0B: every byte is acknowledged by the receiver first; not set: relay_buffer is the limit");
  s.value("exposure_per_bearer", limits.exposure_per_bearer, {Bytes(0), Bytes(1 << 30)},
          "most bytes acknowledged to senders and not yet by receivers, over all connections of a UE");
  s.value("reserve", limits.reserve, {0.02, 0.5},
          "share of the packet buffers that relayed payload never uses; they serve reception, ACKs and forwarding");
  s.value("ue_share", limits.ue_share, {0.01, 1},
          "share of the relay buffers (those beyond the reserve) that the connections of one UE may hold and advertise "
          "together");
  s.value("shrink_windows_at", limits.shrink_windows_at, {0, 1},
          "share of the relay buffers, held or advertised, above which each connection gets only its measured demand");
  s.value("refuse_flows_at", limits.refuse_flows_at, {0, 1},
          "share of the packet buffers in use above which new connections are forwarded unsplit");
  s.value("release_flows_at", limits.release_flows_at, {0, 1},
          "share of the packet buffers in use above which connections that hold none return to plain forwarding");
  // Each threshold starts a stronger remedy than the one before, so their order is fixed.
  s.check(limits.shrink_windows_at <= limits.refuse_flows_at, "refuse_flows_at",
          "at least shrink_windows_at, " + config::Scalar<double>::format(limits.shrink_windows_at),
          config::Scalar<double>::format(limits.refuse_flows_at));
  s.check(limits.refuse_flows_at <= limits.release_flows_at, "release_flows_at",
          "at least refuse_flows_at, " + config::Scalar<double>::format(limits.refuse_flows_at),
          config::Scalar<double>::format(limits.release_flows_at));
}

void describe(Section& s, ShardTimeouts& timeouts) {
  s.value("handshake", timeouts.handshake, {1s, 10min}, "time after which an incomplete handshake is discarded");
  s.value("idle", timeouts.idle, {1s, 24h}, "time after which an idle connection returns to plain forwarding");
  s.value("stalled", timeouts.stalled, {1s, 4h},
          "time after which a connection is reset on both sides because a host acknowledged none of the data held for "
          "it, for example with a closed window, even if it answers");
  s.value("orphaned", timeouts.orphaned, {1s, 4h},
          "time after which a connection is reset if a host acknowledged none of the held data, and the sender of that "
          "data has reset the connection or is gone");
  s.value("out_of_order", timeouts.out_of_order, {1s, 4h},
          "time after which out-of-order segments are dropped because missing data has not arrived; their sender "
          "retransmits them");
}

namespace {

/// Group of `smvs` keys that are used only with certain settings. With other settings these keys are refused, because
/// they would silently have no effect.
struct KeysInUse {
  bool (*used)(const SmvsMode&);
  std::string_view condition;  ///< condition in words, which an error message adds after "this key only when"
};
constexpr KeysInUse law_parameters{[](const SmvsMode& smvs) { return smvs.law != ControllerLocation::nodeb; },
                                   "smvs.law is proxy or acks (nodeb: in the Node-B's file)"};
constexpr KeysInUse ack_parameters{[](const SmvsMode& smvs) {
                                     return smvs.law == ControllerLocation::acks ||
                                            smvs.without_reports == WithoutReports::acks;
                                   },
                                   "smvs.law or smvs.without_reports is acks"};

void describe_smvs(Section& s, SmvsMode& smvs, bool at_both_ends) {
  const auto used = [&](const KeysInUse& keys) { return at_both_ends || keys.used(smvs); };
  const auto condition = [&](const KeysInUse& keys) { return at_both_ends ? std::string_view() : keys.condition; };
  s.choice("law", smvs.law, controller_locations, "location of the SMVS controller");
  s.section(
      "parameters",
      [&](Section& below) {
        control::describe(below, smvs.parameters, used(law_parameters), condition(law_parameters));
      },
      "parameters of the SMVS law");
  s.section("receive_window", smvs.receive_window, "second control loop, for the window advertised to the server");
  s.section("fallback", smvs.fallback, "when reports count as late");
  s.choice("without_reports", smvs.without_reports, without_reports, "controller while reports are late");
  s.when(used(ack_parameters), condition(ack_parameters),
         [&] { s.section("acks", smvs.acks, "the ACK-based controller"); });
  s.choice("cross_traffic", smvs.cross_traffic, cross_traffic_choices,
           "treatment of packets to a UE that belong to no controlled connection, such as QUIC, under the ACK-based "
           "controller");
  s.value("short_flow", smvs.short_flow, {Bytes(0), Bytes(1 << 30)},
          "size up to which a flow is short. Short flows precede other flows of the bearer: report-based control "
          "serves them first, ACK-based control grants them four fifths of the window; 0B = no preference");
  s.value("short_flow_reference", smvs.short_flow_reference, {0, 1},
          "share of the queue reference that remains while a short flow is active beside a download; 1 = all of it");
}

}  // namespace

void describe(Section& s, SmvsMode& smvs) {
  describe_smvs(s, smvs, true);
}

void describe_at_proxy(Section& s, SmvsMode& smvs) {
  describe_smvs(s, smvs, false);
}

void describe(Section& s, EalSettings& eal) {
  s.value("hugepages", eal.hugepages, "huge pages instead of ordinary memory, which needs no setup");
  s.value("pci", eal.pci, "probe for physical devices at start; needed for NICs named by their PCI address");
  s.value("memory", eal.memory, {Bytes(16 << 20), Bytes(std::int64_t{64} << 30)},
          "memory for packet buffers; computed from pool.buffers when not set");
  s.list("arguments", eal.arguments, {0, 64}, "further EAL arguments, one word each");
}

/// Refuses commas in an interface name. A comma would end the driver's argument, and the rest would be read as the next
/// argument.
void check_interface_name(Section& s, const PortSettings& port) {
  if (!dpdk::driver_traits(port.device).kernel_interface) return;
  std::string_view rest = port.device;
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    rest.remove_prefix(comma + 1);
    const std::string_view argument = rest.substr(0, rest.find(','));
    s.check(argument.find('=') != std::string_view::npos, "device",
            "key=value behind each comma, and an interface whose name has none (ip link set dev NAME name OTHER)",
            "\"" + std::string(argument) + "\"");
  }
}

void describe(Section& s, PortSettings& port) {
  s.required().value("device", port.device,
                     "DPDK device arguments (`net_af_packet0,iface=veth0`) or a PCI address (`0000:03:00.0`)");
  s.value("mtu", port.mtu, {68, 9000}, "longest IP packet in bytes");
  s.value("fix_offloads", port.fix_offloads,
          "corrects a kernel interface (GRO and LRO off, link up, MTU) instead of refusing to start, and makes the "
          "host at the other end of a veth segment in software");
  s.value("promiscuous", port.promiscuous, "receives frames for every MAC address; required for a bump in the wire");
  s.value("receive_descriptors", port.receive_descriptors, {64, 8192}, "size of the receive ring in frames");
  s.value("transmit_descriptors", port.transmit_descriptors, {64, 8192}, "size of the transmit ring in frames");
  s.check(!port.device.empty(), "device", "DPDK device arguments", "nothing");
  const bool is_named = dpdk::is_pci_address(port.device) || dpdk::is_virtual_device(port.device);
  s.check(port.device.empty() || is_named, "device",
          "net_af_packet0,iface=NAME for a Linux interface, another virtual device (net_af_xdp, net_tap, net_memif, "
          "net_pcap, net_ring, net_null), or a PCI address (0000:03:00.0)",
          "\"" + port.device + "\"");
  s.check(!dpdk::driver_traits(port.device).kernel_interface || dpdk::device_argument(port.device, "iface"), "device",
          "iface=NAME behind the comma: the Linux interface that this device takes frames from",
          "\"" + port.device + "\"");
  check_interface_name(s, port);
}

void describe(Section& s, PortsSettings& ports) {
  s.required().section("radio", ports.radio, "the port towards the Node-B and the UEs");
  s.required().section("core", ports.core, "the port towards the servers");
  s.choice("partial_checksums", ports.partial_checksums, partial_checksums,
           "handling of segments whose TCP checksum the sending kernel left unfinished");
  const auto interface = dpdk::served_interface(ports.radio.device);
  s.check(!interface || interface != dpdk::served_interface(ports.core.device), "core",
          "another interface than that of radio, because each frame would return to its source",
          interface.value_or("") + " twice");
  const auto name = [](const std::string& device) { return device.substr(0, device.find(',')); };
  s.check(name(ports.radio.device) != name(ports.core.device), "core", "another device than that of radio",
          "\"" + name(ports.core.device) + "\" twice");
}

void describe_priority(Section& s, dpdk::PollMode poll, dpdk::ThreadPriority& priority) {
  constexpr Choice<dpdk::ThreadPriority> priorities[] = {
      {"normal", dpdk::ThreadPriority::normal, "ordinary scheduling class"},
      {"real-time", dpdk::ThreadPriority::real_time, "real-time scheduling class; needs CAP_SYS_NICE"}};
  s.choice("priority", priority, priorities, "scheduling priority of a poll thread that has work");
  s.check(poll == dpdk::PollMode::adaptive || priority == dpdk::ThreadPriority::normal, "priority",
          "normal with poll: busy (the system stops a real-time thread that never sleeps for 50 ms of every second)",
          "real-time");
}

void describe(Section& s, ShardsSettings& shards) {
  s.value("count", shards.count, {1, 64}, "poll threads; each UE belongs to one");
  s.choice("poll", shards.poll, poll_modes, "polling policy when no frames arrive");
  s.value("longest_sleep", shards.longest_sleep, {10us, 10ms},
          "longest sleep of a poll thread whose port cannot wake it (net_memif, net_ring): the first packet after an "
          "idle period may wait this long; longer sleeps use less processor time");
  describe_priority(s, shards.poll, shards.priority);
  s.list("cpus", shards.cpus, {0, 64}, {0, 1023}, "processor of each shard; empty: not pinned");
  s.value("burst", shards.burst, {1, 256}, "packets received from a port in one burst");
  s.check(shards.cpus.empty() || shards.cpus.size() == shards.count, "cpus",
          "as many as shards.count, " + std::to_string(shards.count), std::to_string(shards.cpus.size()));
  const std::set<std::uint16_t> distinct(shards.cpus.begin(), shards.cpus.end());
  s.advise(distinct.size() == shards.cpus.size(), "cpus", "each processor once", "a processor that is listed twice");
}

void describe(Section& s, LoggingSettings& logging) {
  s.live([&] {
    s.choice("level", logging.level, log_levels,
             "lowest level of the lines that are logged; sluicectl log-level changes it until the next reload");
  });
  s.choice("format", logging.format, log_formats, "format of log lines");
  s.value("file", logging.file, "path of the log file; not set: standard error. SIGHUP reopens it");
  s.value("syslog", logging.syslog,
          "datagram socket of a syslog daemon, such as `/dev/log`, that also receives each line; not set: none");
  s.value("statistics_period", logging.statistics_period, {0s, 24h}, "interval of the statistics line; 0s = never");
  s.value("warning_period", logging.warning_period, {1s, 24h}, "shortest interval between repetitions of one warning");
}

void describe(Section& s, AdminSettings& admin) {
  s.value("socket", admin.socket,
          "path of the Unix socket for commands of sluicectl; a missing folder is created; empty: no socket. Without "
          "root privileges, another path is needed, and sluicectl needs it as an option");
  s.value("group", admin.group,
          "name or number of a group whose members may also use the socket (mode 0660); not set: only the user that "
          "runs the program (0600)");
  s.check(admin.socket.size() < 108, "socket", "a path of at most 107 characters", std::to_string(admin.socket.size()));
}

void describe(Section& s, MetricsSettings& metrics) {
  s.value("listen", metrics.listen,
          "address at which HTTP serves `/metrics` in OpenMetrics and Prometheus text format, without authentication; "
          "not set: no HTTP");
}

void describe(Section& s, PageSettings& page) {
  config::describe(s, page);
  s.value("switch_modes", page.switch_modes, "clients with the token may also change `mode` from the page");
}

void describe(Section& s, IpfixSettings& ipfix) {
  s.required().value("collector", ipfix.collector,
                     "address and UDP port of the collector, which gets a record of each connection that ends");
  s.value("domain", ipfix.domain, {0, 4'294'967'295}, "observation domain id, which distinguishes several exporters");
  s.value("template_refresh", ipfix.template_refresh, {1s, 24h},
          "interval at which the templates are repeated, because datagrams may be lost");
  s.value("enterprise", ipfix.enterprise, {1, 4'294'967'295},
          "private enterprise number of the elements that IANA does not have; the default is the number for "
          "documentation (RFC 5612)");
  s.check(ipfix.collector.port != 0, "collector", "a port", "0");
}

void describe(Section& s, StopSettings& stop) {
  s.value("drain", stop.drain, {0s, 10min},
          "time in which split connections return to their hosts, at most doubled while the number of those that hold "
          "bytes falls; the rest is reset on both sides");
}

void describe(Section& s, StateSettings& state) {
  s.value("file", state.file,
          "path of a file that survives a crash, best on a tmpfs such as /run: it records split connections (128 bytes "
          "for each of limits.max_flows of every shard), so that the next run can reset those that lost bytes; not "
          "set: no file");
  s.value("keep", state.keep, {10s, 24h},
          "time after a crash during which a segment of such a connection is answered with a reset");
  s.check(!state.file || !state.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, LastFramesSettings& frames) {
  s.value("file", frames.file,
          "path of a file that survives a crash, on a tmpfs such as /run: it holds the last frames received and sent, "
          "which sluicectl capture --recover reads; not set: no file");
  s.value("size", frames.size, {Bytes(1 << 20), Bytes(std::int64_t{64} << 30U)},
          "size of that file for all shards; a frame takes 24 bytes and snap_length");
  s.value("snap_length", frames.snap_length, {Bytes(64), Bytes(9216)}, "most bytes kept of a frame");
  s.value("payload", frames.payload, "payload is kept up to snap_length, not only headers");
  s.check(!frames.file || !frames.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, ConfineSettings& confine) {
  s.value("seccomp", confine.seccomp,
          "after start, only system calls that the running program needs are allowed; others fail as if the kernel "
          "lacked them");
}

/// Declares the keys for the end of the program: `stop`, `state`, `last_frames` and `confine`.
void describe_ends(Section& s, Config& config) {
  s.section("stop", config.stop, "shutdown");
  s.section("state", config.state, "record of split connections that survives a crash");
  s.section("last_frames", config.last_frames, "record of the last frames that survives a crash");
}

void describe(Section& s, Config& config) {
  s.live([&] {
    s.choice("mode", config.shard.mode, modes, "TCP handling mode");
    s.choice("intercept", config.shard.intercept, intercepts, "interception: whether TCP connections are split");
    s.choice("observed", config.shard.observed, modes, "mode whose decisions are computed in mode observe");
  });
  s.section("eal", config.eal, "DPDK's environment");
  s.required().section("ports", config.ports, "the two ports of the bump in the wire");
  s.choice("fail_open", config.fail_open, fail_opens, "forwarding of frames while the program does not run");
  s.section("shards", config.shards, "the poll threads");
  s.section(
      "pool",
      [&config](Section& pool) {
        pool.value("buffers", config.pool.buffers, {1024, 16'777'216}, "packet buffers of 2 KiB for the whole program");
      },
      "packet buffers, allocated at start");
  s.section("limits", config.shard.limits, "limits of each shard");
  s.section("timeouts", config.shard.timeouts, "timeouts of connections");
  s.live([&] {
    s.section("tcp", config.shard.tcp, "the endpoints of split connections");
    s.section(
        "smvs", [&config](Section& below) { describe_at_proxy(below, config.shard.smvs); },
        "sliding-mode control (SMVS); one_way_delay, receive_window and fallback apply to every mode that uses "
        "reports");
    control::describe_laws(s, config.shard.laws);
  });
  s.section("feedback", config.feedback,
            "UDP protocol with the Node-B; needed by modes with a per-flow window controller, and by smvs unless "
            "smvs.law is acks");
  s.section("logging", config.logging, "log output");
  s.section("admin", config.admin, "admin socket");
  s.section("metrics", config.metrics, "metrics for monitoring systems");
  s.section("page", config.page, "live page at `/` of metrics.listen; not set: no page");
  s.section("ipfix", config.ipfix, "export of ended connections as IPFIX over UDP (RFC 7011); not set: no export");
  describe_ends(s, config);
  s.section("confine", config.confine, "restrictions of the running process");
  s.list("shared_queues", config.shard.shared_queues, {0, 64},
         "prefixes of UEs behind one shared queue, such as that of an access point; their connections share a bearer");
  s.list("ue_prefixes", config.shard.ue_prefixes, {0, 1024},
         "prefixes of UEs; empty: every source address on the radio port");
  Policy prototype;
  const PolicySettings& by_default = config.shard;
  prototype.settings = by_default;
  config::Percentage control_group{config.shard.control_group};
  s.live([&] {
    s.sections("policies", config.shard.policies, {0, 64}, prototype,
               "settings for selected connections; the first matching policy applies, and the keys above apply to all "
               "other connections");
    s.value("control_group", control_group, {{0}, {1}}, "share of the UEs that keep ordinary TCP as a control group");
  });
  config.shard.control_group = control_group.fraction;
  check_page(s, config);
  check_fail_open(s, config);
  check_memory(s, config);
  check_interception(s, config.shard);
  check_feedback(s, config);
  config.shard.accept_partial_checksums = {
      // indexed by Side
      accepts_partial_checksums(config.ports.radio, config.ports.partial_checksums),
      accepts_partial_checksums(config.ports.core, config.ports.partial_checksums)};
}

}  // namespace sluice::proxy
