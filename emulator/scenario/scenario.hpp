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
#include "proxy/shard/config.hpp"

namespace sluice::emulator {

/// What stands between core and Node-B: nothing but a wire, or the proxy in one of its modes. "wrb/regulate" is a mode
/// that regulates where it could split too.
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
[[nodiscard]] constexpr std::string_view to_string(RunMode mode) {
  constexpr std::array regulated = {
#define X(name, key, text) std::string_view(key "/regulate"),
      SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) std::string_view(key "/regulate"),
          SLUICE_WINDOW_LAWS(X)
#undef X
  };
  if (!mode.proxied) return "none";
  if (mode.intercept == proxy::Intercept::regulate) return regulated[static_cast<std::size_t>(mode.mode)];
  return proxy::to_string(mode.mode);
}

enum class DisciplineType : std::uint8_t { fifo, round_robin, red, codel, fq_codel, pie, dualpi2, abc };

/// The queue of a router before a line.
struct QueueSpec {
  DisciplineType type = DisciplineType::fifo;
  std::uint32_t packets = 0;  ///< limit beside the hop's buffer; 0 = none
  RedParameters red;          ///< thresholds of 0: 1/12 and 3/12 of the buffer
  CodelParameters codel;      ///< codel, fq_codel
  PieParameters pie;
  DualPi2Parameters dualpi2;
  AbcParameters abc;
  bool ecn = false;
  bool advertise = false;  ///< the router says what it could take: GWA's φ, which goes along to the Node-B
};

/// A token bucket that drops what exceeds it. Nothing waits in it.
struct PolicerSpec {
  Rate rate = Rate::bits_per_second(10e6);
  Bytes burst{125'000};
};

enum class StepWay : std::uint8_t { both, down, up };

/// A change of a hop's delay, as of a route.
struct StepSpec : DelayStep {
  StepWay way = StepWay::both;
};

/// One wired hop, the same both ways but for the steps of its delay.
struct HopSpec {
  Duration delay{};                                   ///< one way
  Rate rate;                                          ///< 0 = infinitely fast
  Bytes buffer;                                       ///< before the line; 0 = unlimited
  std::optional<QueueSpec> queue = std::nullopt;      ///< of a router; needs a rate
  Duration jitter{};                                  ///< of the delay; of a plain line
  std::optional<PolicerSpec> policer = std::nullopt;  ///< before the line and its queue; each way has one of its own
  std::vector<StepSpec> steps = {};                   ///< of the delay, in the order of time
};

/// A UE's radio buffer.
struct BufferSpec {
  std::uint64_t limit = 200;
  BufferUnit unit = BufferUnit::frames;
};

/// What keeps a radio queue short before it is full.
struct RadioQueueSpec {
  QueueManagement type = QueueManagement::none;
  CodelParameters codel;  ///< codel, fq_codel; max_packet is the hosts' MTU
  /// max_packet is the hosts' MTU. The step is more than the gaps between a cell's opportunities for one UE.
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

/// What one UE was carried in a run of another scenario, interval by interval.
struct ProfileSpec {
  std::string file;                ///< of that scenario
  std::vector<std::string> where;  ///< "scheduler=rr": which of its runs; as in PaperValues
  std::uint32_t ue = 0;            ///< index
  Rate mean;                       ///< scaled to this mean; 0 = as it was
};

struct ChannelSpec {
  ChannelType type = ChannelType::constant;
  Rate rate = Rate::bits_per_second(5e6);       ///< constant
  Rate min = Rate::bits_per_second(1e6);        ///< piecewise
  Rate max = Rate::bits_per_second(10e6);       ///< piecewise
  Duration period = std::chrono::seconds(1);    ///< piecewise: how long a drawn rate holds
  std::string file;                             ///< trace
  Duration offset{};                            ///< trace, generated: where in it the run begins
  Duration drawn_offset{};                      ///< … and up to so much later, by the seed
  TraceParameters generated;                    ///< generated
  Duration length = std::chrono::seconds(120);  ///< generated
  std::optional<std::uint64_t> seed;            ///< generated: of the trace; else that of the run
  ProfileSpec profile;                          ///< profile
  HsdpaParameters hsdpa;                        ///< hsdpa
  ClampParameters clamp;                        ///< clamp
  EvdoParameters evdo;                          ///< evdo
  OfdmaParameters ofdma;                        ///< ofdma; resource_blocks are the cell's
  /// Hybrid ARQ can send its blocks again.
  [[nodiscard]] bool has_transport_blocks() const { return type == ChannelType::hsdpa || type == ChannelType::ofdma; }
};

/// A UE's own way up, before the line that all share.
struct UplinkSpec {
  Bytes frame;  ///< size of a radio frame; 0 = byte by byte
  BufferSpec buffer{200, BufferUnit::packets};
  DropPolicy drop = DropPolicy::tail;
  RadioQueueSpec queue;
  ChannelSpec channel;
};

struct UeSpec {
  IpAddress address = IpAddress::v4(10, 45, 0, 2);
  std::vector<IpAddress> more_addresses;   ///< of the same UE: its IPv6 address, say
  std::optional<Bytes> given_frame;        ///< as the file has it
  std::optional<BufferSpec> given_buffer;  ///< as the file has it
  Bytes frame;                             ///< size of a radio frame; 0 = byte by byte
  BufferSpec buffer{8000, BufferUnit::bytes};
  DropPolicy drop = DropPolicy::tail;
  QueueOrder order = QueueOrder::fifo;
  FlowClassParameters flows;  ///< order short_flows_first
  RadioQueueSpec queue;       ///< managed ones need order fifo
  std::string nodeb;          ///< with which it begins; empty: the first
  std::uint32_t cell = 0;     ///< of that Node-B, in which it begins
  std::uint32_t home = 0;     ///< number of that Node-B
  double loss = 0;            ///< share of the packets that leave the queue and are lost on the air
  double loss_run = 1;        ///< mean number of them that are lost in a row, >= 1
  ChannelSpec channel;
  std::optional<UplinkSpec> uplink;  ///< else its packets only take the shared line
  /// Its address number `index`; 0 is the first, then come more_addresses. Requires that there are so many.
  [[nodiscard]] const IpAddress& address_of(std::uint32_t index) const {
    return index == 0 ? address : more_addresses[index - 1];
  }
  /// Sets `frame` and `buffer`: as given, else as the channel has them. Only HSDPA has frames unless they are given. A
  /// buffer is of 200 frames where there are any, else of as many bytes as 200 frames of HSDPA have.
  void settle_frames();
};

enum class MoveType : std::uint8_t { outage, handover, leave };

/// Something that happens to a UE on its way.
struct MoveSpec {
  MoveType type = MoveType::outage;
  Duration at{};
  std::uint32_t ue = 0;
  Duration duration = std::chrono::milliseconds(50);     ///< of an outage, or of a handover's interruption
  std::string nodeb;                                     ///< handover: to which; empty: another cell of the same one
  std::uint32_t cell = 0;                                ///< handover: to which
  bool forwarding = true;                                ///< handover: what waits goes along; else it is dropped
  Duration path_switch = std::chrono::milliseconds(10);  ///< handover: from the UE's coming until the core knows
  std::optional<ChannelSpec> channel;                    ///< handover: the link there; as before when not set
  std::uint32_t from = 0;                                ///< handover: number of the Node-B it is with
  std::uint32_t to = 0;                                  ///< … and of the one it goes to
  /// The UE goes to another Node-B.
  [[nodiscard]] bool between_nodebs() const { return type == MoveType::handover && from != to; }
};

/// The radio up, where UEs must ask for leave to send.
struct ScheduledUplinkSpec : ScheduledUplinkConfig {
  Rate rate = Rate::bits_per_second(20e6);  ///< of all resource blocks, for UEs without an uplink of their own
  double block_errors = 0.1;                ///< where the channels have no block errors of their own
  std::optional<DrxParameters> drx;
};

/// The line that all UEs share on their way up.
struct UplinkLineSpec : HopSpec {
  std::optional<ScheduledUplinkSpec> scheduled = std::nullopt;  ///< before it
};

/// The radio of one Node-B.
struct RadioSpec {
  std::string name = "first";  ///< of the Node-B
  Duration tti = std::chrono::milliseconds(1);
  CellResources resources;
  std::string scheduler = "rr";
  double pf_window = 1000;  ///< TTIs
  std::uint32_t cells = 1;  ///< of the Node-B, each with a scheduler and TTIs of its own
  UplinkLineSpec uplink{{std::chrono::milliseconds(10), Rate(), Bytes()}};
  std::optional<AirLinkConfig> harq;
};

/// A further Node-B, with reports of its own.
struct NodebSpec : RadioSpec {
  std::optional<config::FeedbackConfig> feedback;  ///< in real time
};

/// The first Node-B, and the UEs.
struct CellSpec : RadioSpec {
  std::vector<UeSpec> ues;
  WlanParameters wlan;  ///< where the UEs' channels are of type wlan
  /// The UEs share the air of an access point.
  [[nodiscard]] bool is_wlan() const { return !ues.empty() && ues.front().channel.type == ChannelType::wlan; }
};

/// The way of reports and statuses. Where the law needs them, their period is Ts: smvs.parameters.step.
struct ReportPathSpec {
  Duration period{};              ///< where the law needs none; 0 = there are none then
  std::optional<Duration> delay;  ///< one way; default: that of the proxy–Node-B hop
  double loss = 0;                ///< share of datagrams lost, each way
  double sharp_change = 0;        ///< see ReporterConfig
  Duration refresh{};             ///< likewise
};

/// The built-in hosts' TCP.
struct HostsSpec {
  std::uint16_t mtu = 1500;
  bool timestamps = true;
  bool sack = true;
  bool ecn = false;
  bool accurate_ecn = false;
  Bytes receive_buffer{4 * 1024 * 1024};
  Bytes send_buffer{4 * 1024 * 1024};
  std::uint32_t ack_every = 2;  ///< segments
  tcp::EndpointConfig tcp;
};

enum class AppType : std::uint8_t { bulk, web, request, telnet, on_off, flows, video, game, responsiveness };
enum class Direction : std::uint8_t { download, upload };

struct AppSpec {
  AppType type = AppType::bulk;
  std::uint32_t ue = 0;       ///< index
  std::uint32_t ues = 1;      ///< of so many UEs, from this one on, each
  std::uint32_t server = 0;   ///< index
  std::uint32_t address = 0;  ///< of the UE: 0 its address, then more_addresses
  Duration start{};
  Direction direction = Direction::download;  ///< bulk
  std::uint64_t size = UINT64_MAX;            ///< bulk: bytes; UINT64_MAX = endless
  std::uint32_t connections = 1;              ///< bulk, responsiveness
  Duration think_time = std::chrono::seconds(1);
  std::uint32_t objects_min = 1;
  std::uint32_t objects_max = 8;
  Bytes object_min{2000};
  Bytes object_max{200'000};
  double object_shape = 1.2;
  // These are of request, telnet, on_off and flows.
  SizeDistribution sizes;
  Duration interval = std::chrono::milliseconds(100);  ///< telnet, on_off, responsiveness: between requests
  Duration on = std::chrono::seconds(1);               ///< on_off: mean
  Duration off = std::chrono::seconds(1);              ///< on_off: mean
  Duration arrivals = std::chrono::seconds(15);        ///< flows: mean between pages
  double objects_mean = 1;                             ///< flows: connections a page
  Duration gap{};                                      ///< flows: mean between the connections of a page
  bool regular = false;                                ///< flows: pages at even intervals
  // These are of video.
  std::vector<Rate> ladder{Rate::bits_per_second(0.3e6), Rate::bits_per_second(0.75e6), Rate::bits_per_second(1.5e6),
                           Rate::bits_per_second(3e6),   Rate::bits_per_second(4.5e6),  Rate::bits_per_second(6e6)};
  Duration segment = std::chrono::seconds(4);
  Duration buffer = std::chrono::seconds(60);
  Duration reservoir = std::chrono::seconds(8);
  std::optional<Duration> length;  ///< endless when not set
  Duration pause = std::chrono::seconds(1);
  // These are of game.
  Duration tick = std::chrono::milliseconds(20);
  Bytes down{200};
  Bytes up{60};
  bool exponential = false;      ///< game: times between datagrams to the UE are drawn, `tick` is their mean
  bool loaded = true;            ///< responsiveness
  std::optional<Duration> stop;  ///< bulk: when it is broken off; flows: when no page begins any more
};

/// A device behind a UE, which shares its link with it: what one server sends to the UE goes on by a hop of its own.
struct SecondHopSpec : HopSpec {
  std::uint32_t ue = 0;      ///< index
  std::uint32_t server = 0;  ///< index
};

/// What is computed of a run's theory, beside its measurement.
enum class ModelType : std::uint8_t {
  none,
  tcp_throughput,  ///< Padhye's formula, and the throughput model for varying rates of the SMVS paper
  wlan_ratio       ///< the M/M/1/K analysis of the WLAN paper
};

/// What is written beside results.csv and series.csv.
struct OutputSpec {
  std::vector<std::string> columns;  ///< of results.csv that the table shows, too
  std::optional<RatioSpec> ratio;
  std::vector<PlotSpec> plots;  ///< of the report
  ModelType model = ModelType::none;
  bool flows = false;                  ///< flows.csv: one row per connection
  bool ues = false;                    ///< ues.csv: one row per UE and interval
  bool packets = false;                ///< packets.csv: one row per packet
  bool drops = false;                  ///< drops.csv: one row per TCP segment that a radio queue dropped
  std::vector<std::uint32_t> windows;  ///< windows.csv: of connections at these servers
  OverTimeSpec over_time;
  bool queues = false;  ///< queues.csv: one row per flow through a radio queue
};

/// The column of the results that names the mode. A sweep of it gives several settings of one mode names of their own.
inline constexpr std::string_view mode_column = "mode";

/// One swept quantity: a column of the results, and the keys it is put into.
struct SweepSpec {
  std::string column;  ///< its name; mode_column where the labels name modes; empty where `with` tells it apart
  std::vector<std::string> keys;  ///< dotted paths: cell.ues.0.channel.period; * stands for every element
  std::string unit;               ///< appended to each value
  std::vector<std::string> values;
  std::vector<std::string> labels;  ///< what the results call them; default: the values
  std::string with;                 ///< advances together with the sweep of this column; empty: on its own
};

/// What real time needs beyond virtual time.
struct LivePageSpec : config::PageConfig {
  config::SocketAddress listen;
};

struct LiveSpec {
  std::string cell_core;   ///< device of the port towards the proxy's radio port
  std::string cell_ue;     ///< device of the UEs' port; empty: built-in UEs
  std::string hop_server;  ///< device of the servers' port; empty: built-in servers
  std::string hop_proxy;   ///< device of the port towards the proxy's core port; empty: servers are elsewhere
  std::uint16_t mtu = 1500;
  bool fix_offloads = false;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  std::optional<std::uint16_t> cpu;
  std::uint32_t buffers = 32'768;
  bool hugepages = false;
  std::vector<std::string> eal_arguments;
  std::optional<config::FeedbackConfig> feedback;
  std::optional<LivePageSpec> page;  ///< none when not set
};

/// A whole experiment as its file states it.
struct Scenario {
  std::string title;
  std::string description;
  std::uint64_t seed = 1;
  Duration duration = std::chrono::seconds(60);
  Duration warmup = std::chrono::seconds(5);  ///< not measured
  std::vector<RunMode> modes{RunMode::none, RunMode::i_tcp, RunMode::smvs};
  HopSpec server_proxy{std::chrono::milliseconds(20), Rate(), Bytes()};
  HopSpec proxy_nodeb{std::chrono::milliseconds(10), Rate(), Bytes()};
  CellSpec cell;
  std::vector<NodebSpec> nodebs;                                      ///< beside the first
  HopSpec forwarding{std::chrono::milliseconds(5), Rate(), Bytes()};  ///< from each Node-B to each other
  std::vector<IpAddress> servers{IpAddress::v4(192, 0, 2, 1)};
  std::vector<HopSpec> server_hops;  ///< of each server before the common hop; none, or as many as servers
  HostsSpec hosts;
  std::vector<tcp::EndpointConfig> server_tcp;  ///< of each server in place of hosts.tcp; none, or as many as servers
  std::vector<SecondHopSpec> second_hops;
  std::vector<MoveSpec> moves;  ///< in the order of time
  std::vector<AppSpec> apps{AppSpec{}};
  std::vector<IpPrefix> bypass_servers;  ///< their connections are forwarded untouched
  proxy::ShardConfig proxy;              ///< also holds the law's parameters, wherever it runs
  ReportPathSpec reports;
  std::vector<SweepSpec> sweep;
  Duration interval = std::chrono::milliseconds(100);  ///< of the time series
  OutputSpec output;
  std::optional<PaperSpec> paper;
  std::uint32_t buffers = 4'194'304;  ///< most packet buffers that a virtual-time run takes
  LiveSpec live;

  [[nodiscard]] std::uint32_t nodeb_count() const { return static_cast<std::uint32_t>(nodebs.size() + 1); }
  /// The radio of Node-B number `nodeb`; the first is 0.
  [[nodiscard]] const RadioSpec& radio(std::uint32_t nodeb) const {
    return nodeb == 0 ? static_cast<const RadioSpec&>(cell) : nodebs[nodeb - 1];
  }
};

/// How often the Node-B reports in that mode; nothing where it does not report at all.
[[nodiscard]] std::optional<Duration> report_period(const Scenario& scenario, RunMode mode);

}  // namespace sluice::emulator
