#include "emulator/scenario/describe.hpp"

#include <charconv>

#include "emulator/scheduler/scheduler.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/laws.hpp"

namespace sluice::config {

std::optional<emulator::RunMode> Scalar<emulator::RunMode>::parse(std::string_view text) {
  if (text == "none") return emulator::RunMode::none;
  for (const proxy::ModeText& mode : proxy::mode_table) {
    if (text == mode.key) return emulator::RunMode{true, mode.mode};
    const emulator::RunMode regulated{true, mode.mode, proxy::Intercept::regulate};
    if (proxy::can_regulate(mode.mode) && proxy::can_split(mode.mode) && text == to_string(regulated)) return regulated;
  }
  return std::nullopt;
}

std::optional<emulator::BufferSpec> Scalar<emulator::BufferSpec>::parse(std::string_view text) {
  using emulator::BufferUnit;
  if (text == "unlimited") return emulator::BufferSpec{0, BufferUnit::bytes};
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (const std::size_t blanks = unit.find_first_not_of(' '); blanks != std::string_view::npos)
    unit = unit.substr(blanks);
  if (error == std::errc() && count > 0 && count <= UINT32_MAX) {
    if (unit == "frames") return emulator::BufferSpec{count, BufferUnit::frames};
    if (unit == "packets") return emulator::BufferSpec{count, BufferUnit::packets};
  }
  const std::optional<Bytes> size = Scalar<Bytes>::parse(text);
  if (!size || size->count() <= 0) return std::nullopt;
  return emulator::BufferSpec{static_cast<std::uint64_t>(size->count()), BufferUnit::bytes};
}

std::string Scalar<emulator::BufferSpec>::format(const emulator::BufferSpec& value) {
  using emulator::BufferUnit;
  if (value.limit == 0) return "unlimited";
  if (value.unit == BufferUnit::frames) return std::to_string(value.limit) + " frames";
  if (value.unit == BufferUnit::packets) return std::to_string(value.limit) + " packets";
  return Scalar<Bytes>::format(Bytes(value.limit));
}

}  // namespace sluice::config

namespace sluice::emulator {
namespace {

using config::Choice;
using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<ChannelType> channel_types[] = {
    {"constant", ChannelType::constant, "one rate"},
    {"piecewise", ChannelType::piecewise, "redrawn at random every period: the link of figures 11 and 12 of SMVS"},
    {"trace", ChannelType::trace, "replays a file of delivery opportunities"},
    {"generated", ChannelType::generated, "replays a trace that is drawn at start from the fading model"},
    {"hsdpa", ChannelType::hsdpa, "path loss, shadowing and fading, CQI, transport blocks, block errors"}};
constexpr Choice<AppType> app_types[] = {{"bulk", AppType::bulk, "one long transfer per connection"},
                                         {"web", AppType::web, "pages of small objects, think time between them"}};
constexpr Choice<Direction> directions[] = {{"download", Direction::download}, {"upload", Direction::upload}};
constexpr Choice<dpdk::PollMode> poll_modes[] = {{"busy", dpdk::PollMode::busy, "never sleeps, takes a processor"},
                                                 {"adaptive", dpdk::PollMode::adaptive, "short sleeps when idle"}};

const Rate fastest = Rate::bits_per_second(100e9);

enum class WithText : std::uint8_t { no, yes };

/// "rr, mci or pf", with what each is in brackets if wanted.
std::string schedulers(WithText with_text) {
  std::string list;
  const auto kinds = scheduler_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) list += i + 1 < kinds.size() ? ", " : " or ";
    list += kinds[i].name;
    if (with_text == WithText::yes) list += " (" + std::string(kinds[i].text) + ")";
  }
  return list;
}

void describe_hsdpa(Section& s, HsdpaParameters& p) {
  s.quantity("distance", p.distance_m, "m", {1, 100'000}, "from the Node-B");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "of the UE");
  s.value("category", p.category, {1, 10}, "of the UE (3GPP TS 25.214): its largest transport block");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation; 0dB = none");
  s.quantity("shadowing_distance", p.shadowing_distance_m, "m", {1, 10'000}, "over which shadowing is correlated");
  s.quantity("power", p.power_dbm, "dBm", {-30, 80}, "transmitted");
  s.quantity("antenna_gain", p.antenna_gain_db, "dB", {-30, 60}, "of the Node-B");
  s.quantity("intra_cell", p.intra_cell_dbm, "dBm", {-200, 80}, "own cell's interference, as transmitted");
  s.quantity("inter_cell", p.inter_cell_dbm, "dBm", {-200, 80}, "other cells' interference, as received");
  s.value("cqi_delay", p.cqi_delay, {0, 15}, "TTIs between measurement and use of a CQI");
  s.value("block_errors", p.block_errors, "blocks are lost by the BLER formula");
}

void describe_generated(Section& s, ChannelSpec& channel) {
  TraceParameters& p = channel.generated;
  s.value("mean", p.mean, {Rate::bits_per_second(1e5), Rate::bits_per_second(1e9)}, "of the whole trace");
  s.quantity("speed", p.speed_kmh, "km/h", {0.1, 500}, "of the UE: how fast it fades");
  s.quantity("snr", p.mean_snr_db, "dB", {-10, 40}, "mean: the lower, the wider the swings of the rate");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation of the slow swings");
  s.value("outage_every", p.outage_every, {0s, 1h}, "mean time between outages; 0s = none");
  s.value("outage_min", p.outage_min, {1ms, 1min}, "shortest outage");
  s.value("outage_max", p.outage_max, {1ms, 1min}, "longest outage");
  s.value("length", channel.length, {1s, 24h}, "after which the trace repeats");
  s.value("seed", channel.seed, "of the trace; when not set, the run's");
  s.check(p.outage_min <= p.outage_max, "outage_min", "at most outage_max", Scalar<Duration>::format(p.outage_min));
}

void describe_reports(Section& s, ReportPathSpec& reports) {
  s.value("delay", reports.delay, {0s, 10s}, "one way; when not set, that of the hop from proxy to Node-B");
  s.value("loss", reports.loss, {0, 1}, "share of the datagrams that is lost, each way");
  s.value("sharp_change", reports.sharp_change, {0, 100},
          "also report when the service rate is off its mean by this part of it; 0 = only every Ts");
}

/// What the law is told of the cell unless the file says otherwise.
void derive_law(Scenario& scenario) {
  control::SmvsParameters& law = scenario.proxy.smvs.parameters;
  law.one_way_delay = scenario.proxy_nodeb.delay;
  if (scenario.cell.ues.empty()) return;
  const UeSpec& ue = scenario.cell.ues.front();
  if (ue.frame > Bytes(0)) law.frame = ue.frame;
  law.buffer = Bytes(0);
  if (ue.buffer.limit == 0) return;
  const auto limit = static_cast<std::int64_t>(ue.buffer.limit);
  switch (ue.buffer.unit) {
    case BufferUnit::frames:
      law.buffer = ue.frame * limit;
      break;
    case BufferUnit::packets:
      law.buffer = Bytes(std::int64_t{scenario.hosts.mtu} * limit);
      break;
    case BufferUnit::bytes:
      law.buffer = Bytes(limit);
      break;
  }
}

void check_topology(Section& s, const Scenario& scenario) {
  const std::size_t ues = scenario.cell.ues.size();
  for (const AppSpec& app : scenario.apps) {
    s.check(app.ue < ues, "apps", "a ue below " + std::to_string(ues), std::to_string(app.ue));
    s.check(app.server < scenario.servers.size(), "apps", "a server below " + std::to_string(scenario.servers.size()),
            std::to_string(app.server));
    if (app.ue >= ues || app.server >= scenario.servers.size()) continue;
    const IpAddress& ue = scenario.cell.ues[app.ue].address;
    s.check(ue.is_v4() == scenario.servers[app.server].is_v4(), "apps", "ue and server of one address family",
            ue.to_string() + " and " + scenario.servers[app.server].to_string());
  }
  std::vector<IpAddress> addresses = scenario.servers;
  for (const UeSpec& ue : scenario.cell.ues) {
    addresses.push_back(ue.address);
    addresses.insert(addresses.end(), ue.more_addresses.begin(), ue.more_addresses.end());
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      s.check(addresses[i] != addresses[j], "cell", "every address once", addresses[i].to_string() + " twice");
    }
  }
}

void check_sweeps(Section& s, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.sweep.size(); ++i) {
    const SweepSpec& sweep = scenario.sweep[i];
    const SweepSpec* leader = nullptr;
    for (std::size_t j = 0; j < i; ++j) {
      s.check(scenario.sweep[j].column != sweep.column, "sweep", "every column once", "\"" + sweep.column + "\" twice");
      if (scenario.sweep[j].column == sweep.with && scenario.sweep[j].with.empty()) leader = &scenario.sweep[j];
    }
    if (sweep.with.empty()) continue;
    s.check(leader != nullptr, "sweep", "with: the column of an earlier sweep that stands on its own",
            "\"" + sweep.with + "\"");
    s.check(leader == nullptr || leader->values.size() == sweep.values.size(), "sweep",
            "as many values as that of " + sweep.with, std::to_string(sweep.values.size()));
  }
}

}  // namespace

void describe(Section& s, HopSpec& hop) {
  s.value("delay", hop.delay, {0s, 10s}, "one way");
  s.value("rate", hop.rate, {Rate(), fastest}, "each way; 0b/s = infinitely fast");
  s.value("buffer", hop.buffer, {Bytes(0), Bytes(std::int64_t{1} << 40)}, "before the line; 0B = unlimited");
}

void describe(Section& s, ChannelSpec& channel) {
  s.required().choice("type", channel.type, channel_types, "how the rate comes about");
  s.when(channel.type == ChannelType::constant, "type is constant", [&] {
    s.value("rate", channel.rate, {Rate(), fastest}, "of the link");
  });
  s.when(channel.type == ChannelType::piecewise, "type is piecewise", [&] {
    s.value("min", channel.min, {Rate(), fastest}, "rates are drawn evenly from here");
    s.value("max", channel.max, {Rate(), fastest}, "… to here");
    s.value("period", channel.period, {1ms, 1h}, "how long a drawn rate holds");
    s.check(channel.min <= channel.max, "min", "at most max", Scalar<Rate>::format(channel.min));
  });
  s.when(channel.type == ChannelType::trace, "type is trace", [&] {
    s.value("file", channel.file, "delivery opportunities, one millisecond per line (Mahimahi's format)");
    s.check(!channel.file.empty(), "file", "the name of a trace", "nothing");
  });
  s.when(channel.type == ChannelType::trace || channel.type == ChannelType::generated, "type is trace or generated",
         [&] {
           s.value("offset", channel.offset, {0s, 24h}, "where in the trace the run begins");
         });
  s.when(channel.type == ChannelType::generated, "type is generated", [&] {
    s.section(
        "model", [&channel](Section& below) { describe_generated(below, channel); }, "what the trace is drawn from");
  });
  s.when(channel.type == ChannelType::hsdpa, "type is hsdpa", [&] {
    s.section(
        "radio", [&channel](Section& below) { describe_hsdpa(below, channel.hsdpa); }, "the UE's radio");
  });
}

void describe(Section& s, UeSpec& ue) {
  s.required().value("address", ue.address, "of the UE");
  s.list("more_addresses", ue.more_addresses, {0, 16}, "further addresses of the same UE, sharing its queue");
  s.value("frame", ue.frame, {Bytes(0), Bytes(65'535)}, "size of a radio frame; 0B = packets are sent byte by byte");
  s.value("buffer", ue.buffer, "of the radio queue");
  s.required().section("channel", ue.channel, "the UE's link");
  s.check(ue.buffer.unit != BufferUnit::frames || ue.frame > Bytes(0), "buffer", "packets or a size where frame is 0B",
          Scalar<BufferSpec>::format(ue.buffer));
}

void describe(Section& s, CellSpec& cell) {
  s.value("tti", cell.tti, {100us, 1s}, "transmission time interval: 1ms for traces, 2ms for HSDPA");
  static const std::string known = schedulers(WithText::yes);
  s.value("scheduler", cell.scheduler, known);
  s.value("pf_window", cell.pf_window, {1, 1e9}, "TTIs over which pf and fcds average");
  s.required().sections("ues", cell.ues, {1, 1000}, "the UEs of the cell");
  s.section("uplink", cell.uplink, "from the UEs to the Node-B");
  s.check(cell.pf_window > 1, "pf_window", "more than 1", Scalar<double>::format(cell.pf_window));
  s.check(make_scheduler(cell.scheduler) != nullptr, "scheduler", schedulers(WithText::no),
          "\"" + cell.scheduler + "\"");
}

void describe(Section& s, HostsSpec& hosts) {
  s.value("mtu", hosts.mtu, {100, 9000}, "bytes of IP packet; the MSS follows from it");
  s.value("timestamps", hosts.timestamps, "TCP timestamps (RFC 7323)");
  s.value("sack", hosts.sack, "selective acknowledgments (RFC 2018)");
  s.value("receive_buffer", hosts.receive_buffer, {Bytes(4096), Bytes(1 << 30)}, "per connection");
  s.value("send_buffer", hosts.send_buffer, {Bytes(4096), Bytes(1 << 30)}, "per connection");
  s.section("tcp", hosts.tcp, "of the hosts' endpoints");
}

void describe(Section& s, AppSpec& app) {
  s.required().choice("type", app.type, app_types, "what it does");
  s.value("ue", app.ue, {0, 999}, "which UE, counted from 0");
  s.value("server", app.server, {0, 999}, "which server, counted from 0");
  s.value("start", app.start, {0s, 24h}, "when it begins");
  s.when(app.type == AppType::bulk, "type is bulk", [&] {
    s.choice("direction", app.direction, directions, "seen from the UE");
    std::optional<Bytes> size;
    if (app.size != UINT64_MAX) size = Bytes(app.size);
    s.value("size", size, {Bytes(1), Bytes::max()}, "of the transfer; endless when not set");
    app.size = size ? static_cast<std::uint64_t>(size->count()) : UINT64_MAX;
    s.value("connections", app.connections, {1, 10'000}, "so many at once");
  });
  s.when(app.type == AppType::web, "type is web", [&] {
    s.value("think_time", app.think_time, {0s, 1h}, "mean between pages, exponential");
    s.value("objects_min", app.objects_min, {1, 10'000}, "objects per page, drawn evenly from here");
    s.value("objects_max", app.objects_max, {1, 10'000}, "… to here");
    s.value("object_min", app.object_min, {Bytes(1), Bytes(1 << 30)}, "object sizes are Pareto from here");
    s.value("object_max", app.object_max, {Bytes(1), Bytes(1 << 30)}, "… cut here");
    s.value("object_shape", app.object_shape, {0.1, 100}, "Pareto's shape");
    s.check(app.objects_min <= app.objects_max, "objects_min", "at most objects_max", std::to_string(app.objects_min));
    s.check(app.object_min <= app.object_max, "object_min", "at most object_max",
            Scalar<Bytes>::format(app.object_min));
  });
}

void describe(Section& s, SweepSpec& sweep) {
  s.required().value("column", sweep.column, "what the results call it, with its unit: period_s");
  s.required().list("keys", sweep.keys, {1, 64}, "where each value goes: cell.ues.0.channel.period, cell.ues.*.buffer");
  s.value("unit", sweep.unit, "appended to each value");
  s.required().list("values", sweep.values, {1, 1000}, "one point each");
  s.list("labels", sweep.labels, {0, 1000}, "what the results call them; the values themselves when empty");
  s.value("with", sweep.with, "advances together with the sweep of this column; on its own when empty");
  s.check(sweep.labels.empty() || sweep.labels.size() == sweep.values.size(), "labels", "as many as values",
          std::to_string(sweep.labels.size()));
  s.check(!sweep.column.empty() &&
              sweep.column.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
              sweep.column != "seed" && sweep.column != "mode",
          "column", "lower-case letters, digits and _, not mode or seed", "\"" + sweep.column + "\"");
}

void describe(Section& s, LiveSpec& live) {
  s.value("cell_core", live.cell_core, "device of the port towards the proxy's radio port");
  s.value("cell_ue", live.cell_ue, "device of the UEs' port; built-in UEs when empty");
  s.value("hop_server", live.hop_server, "device of the servers' port; built-in servers when empty");
  s.value("hop_proxy", live.hop_proxy,
          "device of the port towards the proxy's core port; servers elsewhere when empty");
  s.value("mtu", live.mtu, {576, 9000}, "longest IP packet in bytes");
  s.value("fix_offloads", live.fix_offloads, "repair a kernel interface's settings instead of refusing it");
  s.choice("poll", live.poll, poll_modes, "what the poll thread does when nothing is due");
  s.value("cpu", live.cpu, {0, 1023}, "processor of the poll thread; not pinned when not set");
  s.value("buffers", live.buffers, {1024, 16'777'216}, "packet buffers of 2 KiB");
  s.value("hugepages", live.hugepages, "use huge pages; plain memory otherwise");
  s.list("eal_arguments", live.eal_arguments, {0, 64}, "further EAL arguments, one word each");
  s.section("feedback", live.feedback, "the UDP protocol with the proxy; required by mode smvs");
}

void describe(Section& s, Scenario& scenario) {
  s.value("title", scenario.title, "of the report");
  s.value("description", scenario.description, "one paragraph for the report");
  s.value("seed", scenario.seed, "of everything random");
  s.value("duration", scenario.duration, {100ms, 24h}, "of a run");
  s.value("warmup", scenario.warmup, {0s, 24h}, "at its start, not measured");
  s.list("modes", scenario.modes, {1, 32}, "one run each: none (a wire), or a mode of the proxy");
  s.section("server_proxy", scenario.server_proxy, "the hop between servers and proxy");
  s.section("proxy_nodeb", scenario.proxy_nodeb, "the hop between proxy and Node-B");
  s.required().section("cell", scenario.cell, "the radio");
  s.list("servers", scenario.servers, {1, 1000}, "their addresses");
  s.section("hosts", scenario.hosts, "TCP of the built-in UEs and servers");
  s.sections("apps", scenario.apps, {0, 10'000}, "what the built-in UEs do");
  derive_law(scenario);
  s.section(
      "proxy",
      [&scenario](Section& below) {
        below.section("limits", scenario.proxy.limits, "bounds on what it holds");
        below.section("timeouts", scenario.proxy.timeouts, "how long things may last");
        below.section("tcp", scenario.proxy.tcp, "the endpoints of split connections");
      },
      "the proxy of a virtual-time run, as in its own configuration");
  s.section("smvs", scenario.proxy.smvs, "the law; delay, frame and buffer follow from the topology when not set");
  control::describe_laws(s, scenario.proxy.laws);
  s.section(
      "reports", [&scenario](Section& below) { describe_reports(below, scenario.reports); },
      "the way of reports and statuses; loss in virtual time only");
  s.sections("sweep", scenario.sweep, {0, 8}, "quantities to vary, one run per combination");
  s.value("interval", scenario.interval, {1ms, 1min}, "of the time series");
  s.value("buffers", scenario.buffers, {1024, 16'777'216}, "packet buffers of a virtual-time run");
  s.section("live", scenario.live, "what real time needs");
  s.check(scenario.warmup < scenario.duration, "warmup", "less than duration",
          Scalar<Duration>::format(scenario.warmup));
  s.check(scenario.duration / scenario.interval <= 1'000'000, "interval", "at most a million in the duration",
          Scalar<Duration>::format(scenario.interval));
  check_topology(s, scenario);
  check_sweeps(s, scenario);
}

}  // namespace sluice::emulator
