#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/aqm/abc.hpp"
#include "emulator/aqm/dualpi2.hpp"
#include "emulator/aqm/fq_codel.hpp"
#include "emulator/aqm/pie.hpp"
#include "emulator/aqm/red.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/cell/drx.hpp"
#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "emulator/cell/wlan_cell.hpp"
#include "emulator/channel/clamp.hpp"
#include "emulator/channel/evdo.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/channel/ofdma.hpp"
#include "emulator/channel/trace_generator.hpp"
#include "emulator/hosts/size_distribution.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/ratios.hpp"
#include "emulator/scenario/paper.hpp"
#include "proxy/config/feedback.hpp"
#include "proxy/config/page.hpp"
#include "proxy/engine/base/config.hpp"

namespace sluice::emulator {

/// Connection between core and Node-B: a wire without proxy, or the proxy in one of its modes. In a mode such as
/// "wrb/regulate" the proxy leaves connections end to end, although it could split them.
struct RunMode {
  bool proxied = false;
  proxy::Mode mode = proxy::Mode::bypass;
  proxy::Intercept intercept = proxy::Intercept::automatic;

  static const RunMode none, bypass, i_tcp, smvs;
  constexpr bool operator==(const RunMode&) const = default;
};
inline constexpr RunMode RunMode::none{};
inline constexpr RunMode RunMode::bypass{true, proxy::Mode::bypass};
inline constexpr RunMode RunMode::i_tcp{true, proxy::Mode::i_tcp};
inline constexpr RunMode RunMode::smvs{true, proxy::Mode::smvs};
/// Returns the name of the mode in results and scenarios: "none", a proxy mode such as "i-tcp", or "wrb/regulate".
[[nodiscard]] constexpr std::string_view to_string(RunMode mode) {
  constexpr std::array regulated = {
#define X(name, key, text) std::string_view(key "/regulate"),
      SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) std::string_view(key "/regulate"),
          SLUICE_FLOW_CONTROLLERS(X)
#undef X
  };
  if (!mode.proxied) return "none";
  if (mode.intercept == proxy::Intercept::regulate) return regulated[static_cast<std::size_t>(mode.mode)];
  return proxy::to_string(mode.mode);
}

enum class DisciplineType : std::uint8_t { fifo, round_robin, red, codel, fq_codel, pie, dualpi2, abc };

/// Queue of a router before its outgoing link.
struct QueueSpec {
  DisciplineType type = DisciplineType::fifo;
  std::uint32_t packets = 0;  ///< packet limit in addition to the hop's buffer; 0 = none
  /// Parameters of RED. If the upper threshold (max_threshold) is 0, the thresholds become 1/12 and 3/12 of the buffer.
  RedParameters red;
  CodelParameters codel;  ///< parameters of CoDel, for the disciplines codel and fq_codel
  PieParameters pie;
  DualPi2Parameters dualpi2;
  AbcParameters abc;
  bool ecn = false;
  /// True: the router before the Node-B sends each flow's receive window by GWA (Generalized Window Advertising) along
  /// with the packets. The window that the Node-B reports is at most this one.
  bool advertise = false;
};

/// Token bucket that drops packets above its rate and burst size. It has no queue.
struct PolicerSpec {
  Rate rate = Rate::bits_per_second(10e6);
  Bytes burst{125'000};
};

enum class StepDirection : std::uint8_t { both, down, up };

/// Scheduled change of a hop's delay, such as a route change.
struct StepSpec : DelayStep {
  StepDirection way = StepDirection::both;
};

/// One wired hop, equal in both directions except for the steps of its delay.
struct HopSpec {
  Duration delay{};                               ///< one-way delay
  Rate rate;                                      ///< line rate; 0 = infinitely fast
  Bytes buffer;                                   ///< size of the buffer in front of the line; 0 = unlimited
  std::optional<QueueSpec> queue = std::nullopt;  ///< queue of a router; requires a rate
  Duration jitter{};  ///< largest random deviation of the delay; only for hops without a router's queue
  std::optional<PolicerSpec> policer = std::nullopt;  ///< token bucket in front of line and queue, one per direction
  std::vector<StepSpec> steps = {};                   ///< scheduled changes of the delay, sorted by time
};

/// Size of a UE's radio buffer.
struct BufferSpec {
  std::uint64_t limit = 200;
  BufferUnit unit = BufferUnit::frames;
};

/// Active queue management of a radio queue.
struct RadioQueueSpec {
  QueueManagement type = QueueManagement::none;
  CodelParameters codel;  ///< parameters of CoDel and FQ-CoDel; the member max_packet is set to the hosts' MTU

  /// Parameters of DualPI2; the member max_packet is set to the hosts' MTU. The delay from which packets are marked
  /// (`step`) is longer than the time between two transmissions to one UE. Otherwise packets that only wait for the
  /// next transmission would be marked.
  DualPi2Parameters dualpi2{.step = std::chrono::milliseconds(20)};
  AbcParameters abc;
};

enum class ChannelType : std::uint8_t {
  constant,
  piecewise,
  trace,
  generated,
  profile,
  hsdpa,
  clamp,
  evdo,
  ofdma,
  wlan
};

/// Selects the rates that one UE received in a run of another scenario. The link replays these rates interval by
/// interval.
struct ProfileSpec {
  std::string file;  ///< file of the other scenario
  /// Conditions such as "scheduler=rr" that select one run of the other scenario; all of them must hold.
  std::vector<std::string> where;
  std::uint32_t ue = 0;  ///< UE whose rates are replayed: its index, from 0, in the scenario of `file`
  Rate mean;             ///< mean to which the replayed rates are scaled; 0 = unscaled
};

struct ChannelSpec {
  ChannelType type = ChannelType::constant;
  Rate rate = Rate::bits_per_second(5e6);     ///< rate of a channel of type constant
  Rate min = Rate::bits_per_second(1e6);      ///< lowest rate, for channels of type piecewise
  Rate max = Rate::bits_per_second(10e6);     ///< highest rate, for channels of type piecewise
  Duration period = std::chrono::seconds(1);  ///< time between two drawn rates, for channels of type piecewise
  std::string file;                           ///< name of the trace file, for type trace
  Duration offset{};  ///< position in the trace at which the run begins, for types trace and generated
  /// Largest random time that is added to the position at which the run begins, drawn from the seed, for types trace
  /// and generated.
  Duration drawn_offset{};
  TraceParameters generated;                    ///< parameters of the trace generator, for type generated
  Duration length = std::chrono::seconds(120);  ///< length of the trace, for type generated
  std::optional<std::uint64_t> seed;            ///< seed of the trace, for type generated; default: the run's seed
  ProfileSpec profile;                          ///< source of the replayed rates, for type profile
  HsdpaParameters hsdpa;                        ///< radio parameters, for type hsdpa
  ClampParameters clamp;                        ///< slot parameters, for type clamp
  EvdoParameters evdo;                          ///< radio parameters, for type evdo
  OfdmaParameters ofdma;  ///< radio parameters, for type ofdma; the number of resource blocks is set from the cell

  /// True if the channel sends transport blocks, which hybrid ARQ can retransmit.
  [[nodiscard]] bool has_transport_blocks() const { return type == ChannelType::hsdpa || type == ChannelType::ofdma; }
};

/// Uplink of a single UE. Packets that leave it continue on the line that all UEs share.
struct UplinkSpec {
  Bytes frame;  ///< size of a radio frame; 0: packets are sent byte by byte
  BufferSpec buffer{200, BufferUnit::packets};
  DropPolicy drop = DropPolicy::tail;
  RadioQueueSpec queue;
  ChannelSpec channel;
};

struct UeSpec {
  IpAddress address = IpAddress::v4(10, 45, 0, 2);
  std::vector<IpAddress> more_addresses;   ///< further addresses of this UE, such as its IPv6 address
  std::optional<Bytes> given_frame;        ///< size of a radio frame, if the scenario file states it for this UE
  std::optional<BufferSpec> given_buffer;  ///< size of the radio buffer, if the scenario file states it for this UE
  Bytes frame;                             ///< size of a radio frame; 0: packets are sent byte by byte
  BufferSpec buffer{8000, BufferUnit::bytes};
  DropPolicy drop = DropPolicy::tail;
  QueueOrder order = QueueOrder::fifo;
  FlowClassParameters flows;  ///< definition of short flows, used by the queue order short_flows_first
  RadioQueueSpec queue;       ///< active queue management; requires order fifo
  std::string nodeb;          ///< name of the Node-B that serves the UE first; empty: the first Node-B
  std::uint32_t cell = 0;     ///< number of the cell that serves the UE first, within its first Node-B
  std::uint32_t home = 0;     ///< number of the Node-B that serves the UE first
  double loss = 0;            ///< share of the packets leaving the queue that are lost on the air
  double loss_run = 1;        ///< mean number of consecutive losses, >= 1
  ChannelSpec channel;
  /// Uplink of this UE alone, before the shared line; not set: packets only pass the shared line.
  std::optional<UplinkSpec> uplink;

  /// Returns address number `index` of this UE: 0 is its first address, larger ones are its further addresses. Requires
  /// that the address exists.
  [[nodiscard]] const IpAddress& address_of(std::uint32_t index) const {
    return index == 0 ? address : more_addresses[index - 1];
  }
  /// Sets the sizes of frame and buffer to those that the file states, or else to the defaults of the channel. The
  /// default frame is one HSDPA PDU for hsdpa channels, and 0 for others. The default buffer is 200 frames; without
  /// frames it has the bytes of 200 HSDPA PDUs.
  void set_default_frames();
};

enum class MoveType : std::uint8_t { outage, handover, leave };

/// Scheduled event of a UE: an outage, a handover, or its departure from the network.
struct MoveSpec {
  MoveType type = MoveType::outage;
  Duration at{};
  std::uint32_t ue = 0;
  Duration duration = std::chrono::milliseconds(50);  ///< length of an outage, or of the interruption by a handover
  std::string nodeb;       ///< name of a handover's target Node-B; empty: another cell of the serving Node-B
  std::uint32_t cell = 0;  ///< number of the target cell of a handover
  bool forwarding = true;  ///< true: a handover forwards queued packets to the target; false: they are dropped

  /// Time from arrival at a handover's target to the path switch.
  Duration path_switch = std::chrono::milliseconds(10);
  /// UE's link at a handover's target. Default: the last link that the UE had at that Node-B; at its first visit, a
  /// link with the parameters of UeSpec::channel.
  std::optional<ChannelSpec> channel;
  std::uint32_t from = 0;  ///< number of a handover's source Node-B
  std::uint32_t to = 0;    ///< number of a handover's target Node-B

  /// True if the UE is handed over to another Node-B.
  [[nodiscard]] bool between_nodebs() const { return type == MoveType::handover && from != to; }
};

/// Scheduled uplink: UEs send scheduling requests and receive grants before they send.
struct ScheduledUplinkSpec : ScheduledUplinkConfig {
  /// Rate of an uplink TTI with all of its resource blocks, for UEs without an uplink of their own.
  Rate rate = Rate::bits_per_second(20e6);
  double block_errors = 0.1;  ///< block error rate, for channels that do not model block errors themselves
  std::optional<DrxParameters> drx;
};

/// Line that the uplink packets of all UEs share.
struct UplinkLineSpec : HopSpec {
  std::optional<ScheduledUplinkSpec> scheduled = std::nullopt;  ///< uplink scheduling in front of the line
};

/// Radio of one Node-B.
struct RadioSpec {
  std::string name = "first";  ///< name of the Node-B
  Duration tti = std::chrono::milliseconds(1);
  CellResources resources;
  std::string scheduler = "rr";
  double pf_window = 1000;  ///< averaging window in TTIs
  std::uint32_t cells = 1;  ///< number of cells, each with its own scheduler and TTIs
  UplinkLineSpec uplink{{std::chrono::milliseconds(10), Rate(), Bytes()}};
  std::optional<AirLinkConfig> harq;
};

/// A further Node-B, which sends its own reports.
struct NodebSpec : RadioSpec {
  std::optional<config::FeedbackConfig> feedback;  ///< configuration of the feedback protocol in real time
};

/// The first Node-B, and all UEs.
struct CellSpec : RadioSpec {
  std::vector<UeSpec> ues;
  WlanParameters wlan;  ///< parameters of the access point, if the UEs' channels are of type wlan

  /// True if the UEs share the air of an access point.
  [[nodiscard]] bool is_wlan() const { return !ues.empty() && ues.front().channel.type == ChannelType::wlan; }
};

/// Path of reports and status messages between Node-B and proxy. If the control law needs reports, their period is Ts
/// (`smvs.parameters.step`).
struct ReportPathSpec {
  Duration period{};              ///< report period in modes that need no reports; 0: none are sent in these modes
  std::optional<Duration> delay;  ///< one-way delay; default: delay of the hop from proxy to Node-B
  double loss = 0;                ///< share of lost datagrams, in each direction
  double sharp_change = 0;        ///< relative change of the service rate that triggers a report; see ReporterConfig
  Duration refresh{};             ///< longest time between reports of an unchanged UE; see ReporterConfig
};

/// TCP configuration of the built-in hosts.
struct HostsSpec {
  std::uint16_t mtu = 1500;
  bool timestamps = true;
  bool sack = true;
  bool ecn = false;
  bool accurate_ecn = false;
  Bytes receive_buffer{4 * 1024 * 1024};
  Bytes send_buffer{4 * 1024 * 1024};
  std::uint32_t ack_every = 2;  ///< in-order segments per ACK
  tcp::EndpointConfig tcp;
};

enum class AppType : std::uint8_t { bulk, web, request, telnet, on_off, flows, video, game, responsiveness };
enum class Direction : std::uint8_t { download, upload };

struct AppSpec {
  AppType type = AppType::bulk;
  std::uint32_t ue = 0;      ///< index of the first UE that runs this application
  std::uint32_t ues = 1;     ///< number of UEs that each run this application
  std::uint32_t server = 0;  ///< index of the server
  /// Index of the UE's address: 0 is the first address, larger ones are its further addresses.
  std::uint32_t address = 0;
  Duration start{};
  /// Direction of the data as seen from the UE (applications bulk and flows).
  Direction direction = Direction::download;
  std::uint64_t size = UINT64_MAX;  ///< bytes to transfer (application bulk); UINT64_MAX = endless
  std::uint32_t connections = 1;    ///< number of parallel connections (applications bulk and responsiveness)
  Duration think_time = std::chrono::seconds(1);
  std::uint32_t objects_min = 1;
  std::uint32_t objects_max = 8;
  Bytes object_min{2000};
  Bytes object_max{200'000};
  double object_shape = 1.2;
  // Keys of request, telnet, on_off and flows.
  SizeDistribution sizes;
  /// Time between requests (applications of type telnet, on_off and responsiveness).
  Duration interval = std::chrono::milliseconds(100);
  Duration on = std::chrono::seconds(1);         ///< mean length of an activity period (application on_off)
  Duration off = std::chrono::seconds(1);        ///< mean length of a pause (application on_off)
  Duration arrivals = std::chrono::seconds(15);  ///< mean time between the starts of two pages (application flows)
  double objects_mean = 1;                       ///< mean number of connections per page (application flows)
  Duration gap{};        ///< mean time between the starts of two connections of a page (application flows)
  bool regular = false;  ///< true: pages start at even intervals instead of random instants (application flows)

  // Keys of video.
  std::vector<Rate> ladder{Rate::bits_per_second(0.3e6), Rate::bits_per_second(0.75e6), Rate::bits_per_second(1.5e6),
                           Rate::bits_per_second(3e6),   Rate::bits_per_second(4.5e6),  Rate::bits_per_second(6e6)};
  Duration segment = std::chrono::seconds(4);
  Duration buffer = std::chrono::seconds(60);
  Duration reservoir = std::chrono::seconds(8);
  std::optional<Duration> length;  ///< length of a video; endless if not set
  Duration pause = std::chrono::seconds(1);
  // Keys of game.
  Duration tick = std::chrono::milliseconds(20);
  Bytes down{200};
  Bytes up{60};
  /// True: times between datagrams to the UE are exponentially distributed, with the configured time as their mean
  /// (application game).
  bool exponential = false;
  /// True: the connections that are kept open carry endless downloads. False: they carry only requests. Other requests
  /// use new connections (application responsiveness).
  bool loaded = true;
  /// Time at which transfers of applications of type bulk are aborted, and after which applications of type flows begin
  /// no page.
  std::optional<Duration> stop;
};

/// Second hop from a UE to a device that uses the UE's radio link, for example through a hot spot. The data between
/// that device and one server passes this hop.
struct SecondHopSpec : HopSpec {
  std::uint32_t ue = 0;      ///< index of the UE
  std::uint32_t server = 0;  ///< index of the server
};

/// Theoretical model whose prediction is added to the measurements of a run.
enum class ModelType : std::uint8_t {
  none,
  /// TCP throughput: Padhye's model, and that of the SMVS paper (Ren and Lin, TMC 2011) for varying rates.
  tcp_throughput,
  wlan_ratio  ///< model of the WLAN paper (Pilosof et al., INFOCOM 2003): an M/M/1/K analysis
};

/// Optional outputs, in addition to results.csv and series.csv.
struct OutputSpec {
  std::vector<std::string> columns;  ///< further columns of results.csv that the table shows
  std::optional<RatioSpec> ratio;
  std::vector<PlotSpec> plots;  ///< plots of the report
  ModelType model = ModelType::none;
  bool flows = false;    ///< true: writes flows.csv with one row per connection
  bool ues = false;      ///< true: writes ues.csv with one row per UE and interval
  bool packets = false;  ///< true: writes packets.csv with one row per packet
  bool drops = false;    ///< true: writes drops.csv with one row per TCP segment that a radio queue dropped
  std::vector<std::uint32_t> windows;  ///< indices of the servers whose connections windows.csv records
  OverTimeSpec over_time;
  bool queues = false;  ///< true: writes queues.csv with one row per flow through a radio queue
};

/// Name of the column of the results that contains the mode. A sweep may set this column itself. Its labels then
/// replace the mode's name, so that several settings of one mode have different names.
inline constexpr std::string_view mode_column = "mode";

/// One swept quantity: a column of the results, and the configuration keys to which its values are assigned.
struct SweepSpec {
  /// Name of the sweep's column in the results. If it is mode_column, the labels (or the values) replace the name of
  /// the mode in the results. Empty if the sweep has no column, because its values follow those of the sweep in `with`.
  std::string column;
  std::vector<std::string> keys;  ///< dotted paths such as cell.ues.0.channel.period; * selects every element
  std::string unit;               ///< unit that the results append to each value
  std::vector<std::string> values;
  std::vector<std::string> labels;  ///< names of the values in the results; default: the values themselves
  /// Column of another sweep whose nth value is used together with the nth value of this one; empty: the sweep is
  /// combined with all others.
  std::string with;
};

/// HTTP page of a Node-B in real time, and the address it listens on.
struct LivePageSpec : config::PageConfig {
  config::SocketAddress listen;
};

/// Settings that only runs in real time need: ports, poll thread, memory, feedback protocol.
struct LiveSpec {
  std::string cell_core;  ///< network device (DPDK) that connects the Node-B with the proxy's radio port
  std::string cell_ue;    ///< network device (DPDK) that connects the Node-B with real UEs; empty: UEs are built in
  /// Network device (DPDK) that connects this process with real servers; empty: servers are built in.
  std::string hop_server;
  /// Network device (DPDK) that connects the hop from the servers with the proxy's core port. If empty, this process
  /// emulates neither servers nor that hop, and the proxy is connected to its servers in another way.
  std::string hop_proxy;
  std::uint16_t mtu = 1500;
  bool fix_offloads = false;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  std::optional<std::uint16_t> cpu;
  std::uint32_t buffers = 32'768;
  bool hugepages = false;
  std::vector<std::string> eal_arguments;
  std::optional<config::FeedbackConfig> feedback;
  std::optional<LivePageSpec> page;  ///< live page for browsers; none if not set
};

/// A whole experiment, as its file states it.
struct Scenario {
  std::string title;
  std::string description;
  std::uint64_t seed = 1;
  Duration duration = std::chrono::seconds(60);
  Duration warmup = std::chrono::seconds(5);  ///< time at the start that is not measured
  std::vector<RunMode> modes{RunMode::none, RunMode::i_tcp, RunMode::smvs};
  HopSpec server_proxy{std::chrono::milliseconds(20), Rate(), Bytes()};
  HopSpec proxy_nodeb{std::chrono::milliseconds(10), Rate(), Bytes()};
  CellSpec cell;
  std::vector<NodebSpec> nodebs;  ///< Node-Bs in addition to the first
  /// Line over which a Node-B forwards packets to another Node-B.
  HopSpec forwarding{std::chrono::milliseconds(5), Rate(), Bytes()};
  std::vector<IpAddress> servers{IpAddress::v4(192, 0, 2, 1)};
  std::vector<HopSpec> server_hops;  ///< hops between single servers and the common hop; none, or one per server
  HostsSpec hosts;
  /// TCP configuration of each server, which replaces hosts.tcp; none, or one per server.
  std::vector<tcp::EndpointConfig> server_tcp;
  std::vector<SecondHopSpec> second_hops;
  std::vector<MoveSpec> moves;  ///< scheduled outages, handovers and departures of UEs, sorted by time
  std::vector<AppSpec> apps{AppSpec{}};
  std::vector<IpPrefix> bypass_servers;  ///< servers whose connections the proxy forwards unchanged

  /// Proxy configuration. It contains the controllers' parameters, even if the controllers run at a Node-B.
  proxy::ShardConfig proxy;
  ReportPathSpec reports;
  std::vector<SweepSpec> sweep;
  Duration interval = std::chrono::milliseconds(100);  ///< interval of the time series
  OutputSpec output;
  std::optional<PaperSpec> paper;
  std::uint32_t buffers = 4'194'304;  ///< largest number of packet buffers that a virtual-time run allocates
  LiveSpec live;

  [[nodiscard]] std::uint32_t nodeb_count() const { return static_cast<std::uint32_t>(nodebs.size() + 1); }
  /// Returns the radio of Node-B number `nodeb`; number 0 is the first.
  [[nodiscard]] const RadioSpec& radio(std::uint32_t nodeb) const {
    return nodeb == 0 ? static_cast<const RadioSpec&>(cell) : nodebs[nodeb - 1];
  }
};

/// Returns the Node-B's report period in `mode`, or nothing if it sends no reports.
[[nodiscard]] std::optional<Duration> report_period(const Scenario& scenario, RunMode mode);

}  // namespace sluice::emulator
