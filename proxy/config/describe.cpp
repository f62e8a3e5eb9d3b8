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
  s.choice("congestion", tcp.congestion, congestion_algorithms, "congestion control where no law steers");
  s.value("pacing", tcp.pacing, "spread the window over the round trip where no law steers");
  s.value("min_rto", tcp.min_rto, {1ms, 60s}, "shortest retransmission timeout (RFC 6298)");
  s.value("max_rto", tcp.max_rto, {1s, 10min}, "longest retransmission timeout");
  s.value("delayed_ack", tcp.delayed_ack, {0s, 500ms}, "how long an acknowledgment may wait (RFC 1122: ≤ 0.5 s)");
  s.value("time_wait", tcp.time_wait, {0s, 4min}, "how long a closed connection is remembered");
  s.value("initial_window", tcp.initial_window_segments, {1, 100}, "segments (RFC 6928)");
  s.value("max_retransmissions", tcp.max_retransmissions, {1, 100}, "in a row, then the connection has timed out");
  s.value("max_out_of_order", tcp.max_out_of_order, {16, 65'535},
          "packets held for reassembly per connection; beyond 4096 no more than the window offered needs");
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
    {"auto", Intercept::automatic, "`split` where the mode can be, else `regulate`"},
    {"split", Intercept::split, "two connections, one on each side"},
    {"regulate", Intercept::regulate,
     "one connection end to end; windows are rewritten and ACKs wait in passing, where the mode is a per-flow window "
     "controller, "
     "or "
     "smvs by acknowledgements (smvs.law: acks)"}};
constexpr Choice<ControllerLocation> controller_locations[] = {
    {"nodeb", ControllerLocation::nodeb, "the allowance comes in the report"},
    {"proxy", ControllerLocation::proxy, "the report brings the measurements, the proxy computes"},
    {"acks", ControllerLocation::acks,
     "no report is needed, the UE's acknowledgements bring the measurements; reports correct them where they come"}};

constexpr Choice<WithoutReports> without_reports[] = {
    {"congestion-control", WithoutReports::congestion_control, "the ordinary one of each connection"},
    {"acks", WithoutReports::acks, "the ACK-based controller"}};
constexpr Choice<dpdk::PollMode> poll_modes[] = {
    {"busy", dpdk::PollMode::busy, "never sleeps, takes a processor"},
    {"adaptive", dpdk::PollMode::adaptive,
     "sleeps when idle: until a port has something where ports can tell, else in short steps"}};
constexpr Choice<FailOpen> fail_opens[] = {
    {"none", FailOpen::none, "what the ports' devices make of it; of kernel interfaces, cut"},
    {"bridge", FailOpen::bridge,
     "a bridge of the kernel, which carries every frame whenever the program does not, however it ended; what hangs "
     "for "
     "3 s ends; needs CAP_NET_ADMIN and ports on kernel interfaces (net_af_packet, net_af_xdp)"}};
constexpr Choice<PartialChecksums> partial_checksums[] = {
    {"auto", PartialChecksums::by_driver,
     "`accept` for a port that shows what a kernel of this machine sends (net_af_packet, net_af_xdp, net_tap, live "
     "net_pcap, virtio), `refuse` for any other and for the interface of a physical device"},
    {"accept", PartialChecksums::accept,
     "taken as right from a host whose SYN had such a checksum, and finished in what passes unsplit"},
    {"refuse", PartialChecksums::refuse, "dropped and counted"}};
constexpr Choice<LogLevel> log_levels[] = {{"trace", LogLevel::trace}, {"debug", LogLevel::debug},
                                           {"info", LogLevel::info},   {"warning", LogLevel::warning},
                                           {"error", LogLevel::error}, {"critical", LogLevel::critical},
                                           {"off", LogLevel::off}};
constexpr Choice<LogFormat> log_formats[] = {{"text", LogFormat::text, "one line for people"},
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
          "split or auto in mode " + mode + (other_law ? " where smvs.law is not acks" : ""), "regulate");
  s.check(settings.observed != Mode::observe && needs_feedback(settings.observed), "observed",
          "a mode that reports steer", std::string(to_string(settings.observed)));
  // Observed connections are not split, so no ACK of a UE reaches the ACK-based controller.
  s.check(
      settings.mode != Mode::observe || settings.observed != Mode::smvs || traits_of(settings.smvs.law).needs_reports,
      "mode", "smvs.law nodeb or proxy where smvs is observed", "acks");
}

/// Checks that both ports are kernel interfaces if fail_open is bridge, because a kernel bridge can join no others.
void check_fail_open(Section& s, const Config& config) {
  if (config.fail_open == FailOpen::none) return;
  for (const PortSettings* port : {&config.ports.radio, &config.ports.core}) {
    s.check(dpdk::driver_traits(port->device).kernel_interface, "fail_open",
            "none where a port is not on a kernel interface (net_af_packet, net_af_xdp)", port->device);
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
          "a feedback section beside mode " + std::string(to_string(config.shard.mode)), "none");
  s.check(!config.policies_need_reports() || config.feedback, "policies",
          "a feedback section beside a mode that reports steer", "none");
}

/// Checks that the HTTP server for metrics exists and can be reached, because it serves the live page.
void check_page(Section& s, const Config& config) {
  if (!config.page) return;
  s.check(config.metrics.listen.has_value(), "metrics.listen", "an address, where there is a page", "none");
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
  s.list("ue", policy.ue, {0, 1024}, "prefixes of UEs; every one when empty");
  s.list("server", policy.server, {0, 1024}, "prefixes of servers; every one when empty");
  s.list("ports", policy.ports, {0, 256}, "of the servers; every one when empty");
  s.list("dscp", policy.dscp, {0, 64}, {0, 63}, "of the SYN; every one when empty");
  s.choice("mode", settings.mode, modes, "what is done with these connections");
  s.choice("intercept", settings.intercept, intercepts, "how they are got hold of");
  s.choice("observed", settings.observed, modes, "the mode whose decisions mode observe computes");
  s.section(
      "smvs", [&settings](Section& below) { describe_at_proxy(below, settings.smvs); },
      "as at the top level, which is the default");
  control::describe_laws(s, settings.laws);
  check_interception(s, settings);
}

void describe(Section& s, ShardLimits& limits) {
  s.value("max_flows", limits.max_flows, {1, 16'777'216}, "connections tracked per shard; those beyond pass unsplit");
  s.value("max_bearers", limits.max_bearers, {1, 1'048'576}, "UEs per shard; connections of those beyond pass unsplit");
  s.value(
      "relay_buffer", limits.relay_buffer, {Bytes(64 * 1024), Bytes(1 << 30)},
      "most bytes one direction of a connection may hold: acknowledged here and not there, or advertised as window; "
      "how many it is depends on what the connection needs and on the packet buffers left");
  s.value("exposure_per_flow", limits.exposure_per_flow, {Bytes(0), Bytes(1 << 30)},
          "bytes of one direction of a connection acknowledged here and not yet there; 0B acknowledges nothing before "
          "the other host has; relay_buffer is the limit where not set");
  s.value("exposure_per_bearer", limits.exposure_per_bearer, {Bytes(0), Bytes(1 << 30)},
          "the same for all connections of a UE together");
  s.value("reserve", limits.reserve, {0.02, 0.5},
          "share of the packet buffers that relayed payload never takes: they receive, acknowledge and forward");
  s.value("ue_share", limits.ue_share, {0.01, 1},
          "share of the others that the connections of one UE may hold and advertise together");
  s.value("shrink_windows_at", limits.shrink_windows_at, {0, 1},
          "share of them, held or advertised, from which a connection is given only what it has shown to need");
  s.value("refuse_flows_at", limits.refuse_flows_at, {0, 1},
          "share of the packet buffers in use from which new connections pass unsplit");
  s.value("release_flows_at", limits.release_flows_at, {0, 1},
          "share of the packet buffers in use from which connections that hold none go back to plain forwarding");
  // Each threshold starts a stronger remedy than the one before, so their order is fixed.
  s.check(limits.shrink_windows_at <= limits.refuse_flows_at, "refuse_flows_at",
          "at least shrink_windows_at, " + config::Scalar<double>::format(limits.shrink_windows_at),
          config::Scalar<double>::format(limits.refuse_flows_at));
  s.check(limits.refuse_flows_at <= limits.release_flows_at, "release_flows_at",
          "at least refuse_flows_at, " + config::Scalar<double>::format(limits.refuse_flows_at),
          config::Scalar<double>::format(limits.release_flows_at));
}

void describe(Section& s, ShardTimeouts& timeouts) {
  s.value("handshake", timeouts.handshake, {1s, 10min}, "a SYN that leads nowhere is forgotten after this");
  s.value("idle", timeouts.idle, {1s, 24h}, "a silent connection goes back to plain forwarding after this");
  s.value(
      "stalled", timeouts.stalled, {1s, 4h},
      "a connection is reset on both sides when a host has taken nothing of what is held for it for so long, as one "
      "with a closed window, even where it answers");
  s.value("orphaned", timeouts.orphaned, {1s, 4h},
          "the same where the host that sent it has reset the connection or is gone");
  s.value(
      "out_of_order", timeouts.out_of_order, {1s, 4h},
      "segments that came out of order are dropped when what is missing has not come after this; their sender repeats "
      "them");
}

namespace {

/// Group of `smvs` keys that the proxy uses only with certain settings. Under other settings the keys are refused,
/// because they would have no effect without notice.
struct KeysInUse {
  bool (*used)(const SmvsMode&);
  std::string_view condition;  ///< those settings in words; follows "this key only when"
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
  s.choice("law", smvs.law, controller_locations, "where the law is computed");
  s.section(
      "parameters",
      [&](Section& below) {
        control::describe(below, smvs.parameters, used(law_parameters), condition(law_parameters));
      },
      "of the law");
  s.section("receive_window", smvs.receive_window, "of the second loop, on the window advertised to the server");
  s.section("fallback", smvs.fallback, "when reports count as late");
  s.choice("without_reports", smvs.without_reports, without_reports, "what steers while they are late");
  s.when(used(ack_parameters), condition(ack_parameters),
         [&] { s.section("acks", smvs.acks, "the ACK-based controller"); });
  s.value("short_flow", smvs.short_flow, {Bytes(0), Bytes(1 << 30)},
          "flows that have sent less go before the bearer's others: by reports first of all, by acknowledgements with "
          "four fifths of the window; 0B = no preference");
  s.value("short_flow_reference", smvs.short_flow_reference, {0, 1},
          "share of the reference in the radio queue that is left while such a flow is waited for beside a download; "
          "1 = all of it");
}

}  // namespace

void describe(Section& s, SmvsMode& smvs) {
  describe_smvs(s, smvs, true);
}

void describe_at_proxy(Section& s, SmvsMode& smvs) {
  describe_smvs(s, smvs, false);
}

void describe(Section& s, EalSettings& eal) {
  s.value("hugepages", eal.hugepages, "use huge pages; plain memory otherwise, which needs no setup");
  s.value("pci", eal.pci, "look for physical devices at start; needed for NICs named by their PCI address");
  s.value("memory", eal.memory, {Bytes(16 << 20), Bytes(std::int64_t{64} << 30)},
          "memory for packet buffers; computed from pool.buffers when not set");
  s.list("arguments", eal.arguments, {0, 64}, "further EAL arguments, one word each");
}

/// Refuses commas in an interface name. A comma ends an argument of the driver, and the rest would be taken for the
/// next one.
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
  s.value(
      "fix_offloads", port.fix_offloads,
      "repair a kernel interface's settings (merging off, up, MTU) instead of refusing to start, and have the host at "
      "the other end of a veth segment for itself");
  s.value("promiscuous", port.promiscuous, "take frames for every MAC address; a bump in the wire needs it");
  s.value("receive_descriptors", port.receive_descriptors, {64, 8192}, "frames the device may hold for us");
  s.value("transmit_descriptors", port.transmit_descriptors, {64, 8192}, "frames we may hand over at once");
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
           "segments whose TCP checksum the sending kernel left unfinished");
  const auto interface = dpdk::served_interface(ports.radio.device);
  s.check(!interface || interface != dpdk::served_interface(ports.core.device), "core",
          "another interface than radio has (each frame would go back to where it came from)",
          interface.value_or("") + " twice");
  const auto name = [](const std::string& device) { return device.substr(0, device.find(',')); };
  s.check(name(ports.radio.device) != name(ports.core.device), "core", "another device than radio has",
          "\"" + name(ports.core.device) + "\" twice");
}

void describe_priority(Section& s, dpdk::PollMode poll, dpdk::ThreadPriority& priority) {
  constexpr Choice<dpdk::ThreadPriority> priorities[] = {
      {"normal", dpdk::ThreadPriority::normal, "shares its processor with everything else"},
      {"real-time", dpdk::ThreadPriority::real_time, "before everything ordinary; needs CAP_SYS_NICE"}};
  s.choice("priority", priority, priorities, "of a poll thread that has something to do");
  s.check(poll == dpdk::PollMode::adaptive || priority == dpdk::ThreadPriority::normal, "priority",
          "normal with poll: busy (the system stops a real-time thread that never sleeps for 50 ms of every second)",
          "real-time");
}

void describe(Section& s, ShardsSettings& shards) {
  s.value("count", shards.count, {1, 64}, "poll threads; each UE belongs to one");
  s.choice("poll", shards.poll, poll_modes, "what a poll thread does when nothing comes in");
  s.value("longest_sleep", shards.longest_sleep, {10us, 10ms},
          "of a poll thread with a port that cannot wake it (net_memif, net_ring): so late the first packet after a "
          "silence may be; longer sleeps take less of the processor");
  describe_priority(s, shards.poll, shards.priority);
  s.list("cpus", shards.cpus, {0, 64}, {0, 1023}, "the processor of each shard; not pinned when empty");
  s.value("burst", shards.burst, {1, 256}, "packets taken from a port at once");
  s.check(shards.cpus.empty() || shards.cpus.size() == shards.count, "cpus",
          "as many as shards.count, " + std::to_string(shards.count), std::to_string(shards.cpus.size()));
  const std::set<std::uint16_t> distinct(shards.cpus.begin(), shards.cpus.end());
  s.advise(distinct.size() == shards.cpus.size(), "cpus", "each processor once", "one that is given twice");
}

void describe(Section& s, LoggingSettings& logging) {
  s.choice("level", logging.level, log_levels, "the least severe that is written");
  s.choice("format", logging.format, log_formats, "how a line looks");
  s.value("file", logging.file, "where to; standard error when not set. SIGHUP opens it again");
  s.value("statistics_period", logging.statistics_period, {0s, 24h}, "how often statistics are logged; 0s = never");
  s.value("warning_period", logging.warning_period, {1s, 24h}, "the same warning comes at most once in this time");
}

void describe(Section& s, AdminSettings& admin) {
  s.value(
      "socket", admin.socket,
      "path of the Unix socket that sluicectl talks to, and commands come from: its folder is made if missing; none "
      "when empty. Who is not root gives a path of their own, as to sluicectl");
  s.value("group", admin.group,
          "name or number of a group whose members may command it too (mode 0660); only the user who runs the program "
          "when not set (0600)");
  s.check(admin.socket.size() < 108, "socket", "a path of at most 107 characters", std::to_string(admin.socket.size()));
}

void describe(Section& s, MetricsSettings& metrics) {
  s.value("listen", metrics.listen,
          "where HTTP serves `/metrics` in OpenMetrics and in Prometheus' text format, to whoever can connect; nowhere "
          "when not set");
}

void describe(Section& s, PageSettings& page) {
  config::describe(s, page);
  s.value("switch_modes", page.switch_modes, "whoever has the token may change `mode` from the page, too");
}

void describe(Section& s, StopSettings& stop) {
  s.value("drain", stop.drain, {0s, 10min},
          "how long connections that are split may take to go back to their hosts, and at most as long again while "
          "the number of those that hold bytes falls; those left then are reset on both sides");
}

void describe(Section& s, StateSettings& state) {
  s.value("file", state.file,
          "path of a file that outlives the program, best on a tmpfs such as /run: what is split is noted there, 128 "
          "bytes for each of limits.max_flows of every shard, so that after a crash the next run can reset connections "
          "that lost bytes; none when not set");
  s.value("keep", state.keep, {10s, 24h}, "hosts of such connections are reset when they speak up to this long after");
  s.check(!state.file || !state.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, LastFramesSettings& frames) {
  s.value(
      "file", frames.file,
      "path of a file that outlives the program, on a tmpfs such as /run: the last frames that came in and went out "
      "are kept there, and are left in it where the program ends without a word, for sluicectl capture --recover; "
      "none when not set");
  s.value("size", frames.size, {Bytes(1 << 20), Bytes(std::int64_t{64} << 30U)},
          "memory of that file, all shards together; a frame takes 24 bytes and snap_length");
  s.value("snap_length", frames.snap_length, {Bytes(64), Bytes(9216)}, "what is kept of a frame at most");
  s.value("payload", frames.payload, "what connections carry is kept too, up to snap_length, and not headers only");
  s.check(!frames.file || !frames.file->empty(), "file", "a path", "nothing");
}

void describe(Section& s, ConfineSettings& confine) {
  s.value(
      "seccomp", confine.seccomp,
      "once everything has started the program can make only the system calls that it needs then; others fail as if "
      "the kernel did not have them");
}

/// Declares the keys of the program's end: what happens then, and which files it leaves behind.
void describe_ends(Section& s, Config& config) {
  s.section("stop", config.stop, "the program's end");
  s.section("state", config.state, "what remains when the program ends without a word");
  s.section("last_frames", config.last_frames, "the last frames of a program that ended without a word");
}

void describe(Section& s, Config& config) {
  s.live([&] {
    s.choice("mode", config.shard.mode, modes, "what is done with TCP connections");
    s.choice("intercept", config.shard.intercept, intercepts, "how connections are got hold of");
    s.choice("observed", config.shard.observed, modes, "the mode whose decisions mode observe computes");
  });
  s.section("eal", config.eal, "DPDK's environment");
  s.required().section("ports", config.ports, "the two ports of the bump in the wire");
  s.choice("fail_open", config.fail_open, fail_opens, "what the wire is when the program does not run");
  s.section("shards", config.shards, "the poll threads");
  s.section(
      "pool",
      [&config](Section& pool) {
        pool.value("buffers", config.pool.buffers, {1024, 16'777'216}, "packet buffers of 2 KiB for the whole program");
      },
      "packet buffers, taken at start");
  s.section("limits", config.shard.limits, "bounds on what a shard holds");
  s.section("timeouts", config.shard.timeouts, "how long things may last");
  s.live([&] {
    s.section("tcp", config.shard.tcp, "the endpoints of split connections");
    s.section(
        "smvs", [&config](Section& below) { describe_at_proxy(below, config.shard.smvs); },
        "sliding-mode control; its one_way_delay, receive_window and fallback hold in every mode that is steered by "
        "reports");
    control::describe_laws(s, config.shard.laws);
  });
  s.section("feedback", config.feedback,
            "the UDP protocol with the Node-B; needed by modes that give windows, and by smvs unless smvs.law is acks");
  s.section("logging", config.logging, "what is written where");
  s.section("admin", config.admin, "the operator's socket");
  s.section("metrics", config.metrics, "what monitoring systems read");
  s.section("page", config.page, "a live page at `/` of metrics.listen; none when not set");
  describe_ends(s, config);
  s.section("confine", config.confine, "what a running program is left able to do");
  s.list("shared_queues", config.shard.shared_queues, {0, 64},
         "prefixes of UEs behind one queue, an access point's: their connections share a bearer");
  s.list("ue_prefixes", config.shard.ue_prefixes, {0, 1024},
         "which addresses are UEs; when empty, every source address on the radio port");
  Policy prototype;
  const PolicySettings& by_default = config.shard;
  prototype.settings = by_default;
  config::Percentage control_group{config.shard.control_group};
  s.live([&] {
    s.sections("policies", config.shard.policies, {0, 64}, prototype,
               "treatments for some connections: the first that matches decides, the keys above are for all others");
    s.value("control_group", control_group, {{0}, {1}},
            "share of the UEs that stay on ordinary TCP, to be compared with");
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
