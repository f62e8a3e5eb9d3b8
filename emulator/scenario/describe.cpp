// Top level of a scenario file: its keys with unit, range and default, and the checks that span several sections.
// config::parse<Scenario>() calls describe(); the same functions print the reference of all keys. Values that the file
// leaves out are derived from other sections here, in the order in which describe() reads them.

#include "emulator/scenario/describe.hpp"

#include <algorithm>
#include <charconv>

#include "emulator/report/columns.hpp"
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

constexpr Choice<ModelType> model_types[] = {
    {"none", ModelType::none, "nothing"},
    {"tcp-throughput", ModelType::tcp_throughput,
     "throughput of one download over a profile: Padhye's formula and the SMVS paper's model for varying rates"},
    {"wlan-ratio", ModelType::wlan_ratio,
     "ratio of uploads to downloads at an access point: the WLAN paper's M/M/1/K queue"}};
constexpr Choice<dpdk::PollMode> poll_modes[] = {
    {"busy", dpdk::PollMode::busy, "never sleeps; occupies a whole processor"},
    {"adaptive", dpdk::PollMode::adaptive, "short sleeps when idle"}};

void describe_reports(Section& s, ReportPathSpec& reports) {
  s.value("period", reports.period, {0s, 1min},
          "interval of reports if the controller needs none (smvs.law: acks); 0 = never. Otherwise "
          "smvs.parameters.step is the interval");
  s.value("delay", reports.delay, {0s, 10s}, "one-way delay; not set: that of the hop from proxy to Node-B");
  s.value("loss", reports.loss, {0, 1}, "share of datagrams lost in each direction");
  s.value(
      "sharp_change", reports.sharp_change, {0, 100},
      "relative deviation of the service rate from its mean that triggers an extra report; 0 = reports only every Ts");
  s.value("refresh", reports.refresh, {0s, 1min},
          "longest interval between reports about a UE whose state is unchanged; 0 = every UE in every report");
}

/// Sets defaults of the SMVS parameters from the scenario: the one-way delay, and the frame size and buffer of the
/// first UE.
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
    s.check(app.ue + app.ues <= ues, "apps", "at most as many UEs as there are from that one on",
            std::to_string(app.ues));
    s.check(app.server < scenario.servers.size(), "apps", "a server below " + std::to_string(scenario.servers.size()),
            std::to_string(app.server));
    if (app.ue + std::max(app.ues, 1U) > ues || app.server >= scenario.servers.size()) continue;
    for (std::uint32_t i = 0; i < app.ues; ++i) {
      const UeSpec& spec = scenario.cell.ues[app.ue + i];
      s.check(app.address <= spec.more_addresses.size(), "apps",
              "an address of at most " + std::to_string(spec.more_addresses.size()), std::to_string(app.address));
      if (app.address > spec.more_addresses.size()) continue;
      const IpAddress& ue = spec.address_of(app.address);
      s.check(ue.is_v4() == scenario.servers[app.server].is_v4(), "apps", "ue and server of one address family",
              ue.to_string() + " and " + scenario.servers[app.server].to_string());
    }
  }
  for (const SecondHopSpec& hop : scenario.second_hops) {
    s.check(hop.ue < ues, "second_hops", "a ue below " + std::to_string(ues), std::to_string(hop.ue));
    s.check(hop.server < scenario.servers.size(), "second_hops",
            "a server below " + std::to_string(scenario.servers.size()), std::to_string(hop.server));
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

/// Rejects the key `advertise` (the router advertises a receive window) on all hops but the one from proxy to Node-B.
/// The reason is that a Node-B reports the advertised window only for the router of that hop.
void check_advertising(Section& s, const Scenario& scenario) {
  const auto check = [&s](const HopSpec& hop, const std::string& at) {
    s.check(!hop.queue || !hop.queue->advertise, at, "advertise only at proxy_nodeb", "true");
  };
  check(scenario.server_proxy, "server_proxy");
  for (std::size_t i = 0; i < scenario.server_hops.size(); ++i)
    check(scenario.server_hops[i], "server_hops[" + std::to_string(i) + "]");
  check(scenario.forwarding, "forwarding");
  for (std::uint32_t i = 0; i < scenario.nodeb_count(); ++i)
    check(scenario.radio(i).uplink, i == 0 ? "cell.uplink" : "nodebs[" + std::to_string(i - 1) + "].uplink");
}

/// Keys whose value is valid for all runs of an experiment. A sweep of one of them is rejected because its runs would
/// not differ.
constexpr std::string_view read_once[] = {"buffers",      "description",  "live",  "output.columns", "output.over_time",
                                          "output.plots", "output.ratio", "paper", "sweep",          "title"};

constexpr const char* buffers_text =
    "most packet buffers of a virtual-time run, allocated as needed; a run that needs more ends with an error; shares "
    "in proxy.limits refer to this number";

void check_sweep_keys(Section& s, const SweepSpec& sweep) {
  for (const std::string& key : sweep.keys) {
    for (const std::string_view part : read_once) {
      const bool is_part = key.starts_with(part) && (key.size() == part.size() || key[part.size()] == '.');
      s.check(!is_part, "sweep",
              "keys that differ between virtual-time runs; " + std::string(part) + " is read once for all of them",
              "\"" + key + "\"");
    }
  }
}

void check_sweeps(Section& s, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.sweep.size(); ++i) {
    const SweepSpec& sweep = scenario.sweep[i];
    const SweepSpec* leader = nullptr;
    check_sweep_keys(s, sweep);
    s.check(sweep.column != mode_column || scenario.modes.size() == 1, "modes",
            "one mode, because a sweep names the modes", std::to_string(scenario.modes.size()));
    for (std::size_t j = 0; j < i; ++j) {
      s.check(scenario.sweep[j].column != sweep.column || sweep.column.empty(), "sweep", "every column once",
              "\"" + sweep.column + "\" twice");
      if (scenario.sweep[j].column == sweep.with && scenario.sweep[j].with.empty()) leader = &scenario.sweep[j];
    }
    if (sweep.with.empty()) continue;
    s.check(leader != nullptr, "sweep", "with: the column of an earlier independent sweep", "\"" + sweep.with + "\"");
    s.check(leader == nullptr || leader->values.size() == sweep.values.size(), "sweep",
            "as many values as that of " + sweep.with, std::to_string(sweep.values.size()));
  }
}

void check_ratio(Section& s, const Scenario& scenario) {
  if (!scenario.output.ratio) return;
  const RatioSpec& ratio = *scenario.output.ratio;
  if (ratio.column == mode_column) {
    const bool known = std::any_of(scenario.modes.begin(), scenario.modes.end(),
                                   [&](const RunMode mode) { return to_string(mode) == ratio.base; });
    return s.check(known, "output", "ratio.base: one of modes", "\"" + ratio.base + "\"");
  }
  const auto sweep = std::find_if(scenario.sweep.begin(), scenario.sweep.end(),
                                  [&](const SweepSpec& known) { return known.column == ratio.column; });
  s.check(sweep != scenario.sweep.end(), "output", "ratio.column: mode, or the column of a sweep",
          "\"" + ratio.column + "\"");
  if (sweep == scenario.sweep.end()) return;
  const std::vector<std::string>& points = sweep->labels.empty() ? sweep->values : sweep->labels;
  s.check(std::find(points.begin(), points.end(), ratio.base) != points.end(), "output",
          "ratio.base: a point of that sweep", "\"" + ratio.base + "\"");
}

void describe_over_time(Section& s, OverTimeSpec& shown) {
  s.value("from", shown.from_s, {0.0, 1e6}, "start of the plots, in seconds since the run began");
  s.value("to", shown.to_s, {0.0, 1e6}, "end of the plots, in seconds since the run began; 0 = end of the run");
  s.list("where", shown.where, {0, 8},
         "conditions that a sweep's points must meet, such as buffer=100; empty: the first, middle and last point");
  s.value("every", shown.every, "shows all points of sweeps if `where` is empty");
  s.value("first", shown.first, "places the plots before the comparison of all runs");
  s.value("beside", shown.beside, "swept column whose points are shown side by side, as modes are");
  s.value("ue", shown.ue, "address of a UE whose queue gets its own plot (needs output.ues)");
}

/// Declares the configuration keys of the optional result files, plots and columns.
void describe_output(Section& s, OutputSpec& output) {
  s.value("flows", output.flows, "flows.csv: one row per connection of the built-in hosts");
  s.value("ues", output.ues, "ues.csv: one row per UE and interval");
  s.value("packets", output.packets, "packets.csv: one row per packet that left a radio queue");
  s.list("columns", output.columns, {0, 16}, "further columns of results.csv in the table");
  s.choice("model", output.model, model_types, "theoretical model that is computed for comparison");
  for (const std::string& column : output.columns) {
    s.check(is_result_column(column), "columns", "columns of results.csv", "\"" + column + "\"");
  }
  s.sections("plots", output.plots, {0, 16}, "plots at the start of the report: any column against any other");
  s.section("ratio", output.ratio,
            "ratios of runs to other runs of the same seed that differ only in one swept column");
  s.value("drops", output.drops, "drops.csv: one row per TCP segment that a radio queue dropped");
  s.list("windows", output.windows, {0, 64},
         "windows.csv: one row per interval and connection of these servers (0 is the first); in virtual time");
  s.section(
      "over_time", [&output](Section& below) { describe_over_time(below, output.over_time); },
      "plots against time in the report");
  s.value("queues", output.queues,
          "queues.csv: one row per flow through a radio queue, with its occupancy, drops and delays");
}

/// Declares the configuration keys of the built-in servers and UEs, and of the hops between servers and Node-B.
void describe_hosts(Section& s, Scenario& scenario) {
  s.list("servers", scenario.servers, {1, 1000}, "addresses of the built-in servers");
  s.sections(
      "server_hops", scenario.server_hops, {0, 1000},
      "hops of the individual built-in servers before the common hop, in the order of servers; none, or one each");
  s.check(scenario.server_hops.empty() || scenario.server_hops.size() == scenario.servers.size(), "server_hops",
          "none, or one for each of " + std::to_string(scenario.servers.size()) + " servers",
          std::to_string(scenario.server_hops.size()));
  s.section("hosts", scenario.hosts, "TCP of the built-in UEs and servers");
  s.sections("server_tcp", scenario.server_tcp, {0, 1000},
             "TCP settings of the individual built-in servers instead of hosts.tcp, in the order of servers; none, or "
             "one each");
  s.check(scenario.server_tcp.empty() || scenario.server_tcp.size() == scenario.servers.size(), "server_tcp",
          "none, or one for each of " + std::to_string(scenario.servers.size()) + " servers",
          std::to_string(scenario.server_tcp.size()));
  s.sections("second_hops", scenario.second_hops, {0, 1000},
             "further hops behind UEs, for devices that share the UE's link: each carries the traffic between one "
             "server and one UE");
}

void describe_proxy(Section& s, Scenario& scenario) {
  s.section(
      "proxy",
      [&scenario](Section& below) {
        below.section("limits", scenario.proxy.limits, "limits of the proxy");
        below.section("timeouts", scenario.proxy.timeouts, "timeouts of connections");
        below.section("tcp", scenario.proxy.tcp, "the endpoints of split connections");
        below.list("bypass_servers", scenario.bypass_servers, {0, 64},
                   "prefixes of servers whose connections are forwarded unchanged in every mode");
        below.list("shared_queues", scenario.proxy.shared_queues, {0, 64}, "prefixes of UEs behind one shared queue");
      },
      "configuration of the proxy in a virtual-time run, as in its own file");
}

}  // namespace

std::optional<Duration> report_period(const Scenario& scenario, RunMode mode) {
  proxy::PolicySettings settings = scenario.proxy;
  settings.mode = mode.mode;
  if (!mode.proxied) return std::nullopt;
  if (settings.needs_reports()) return settings.smvs.parameters.step;
  if (!settings.uses_ack_feedback() || scenario.reports.period <= Duration::zero()) return std::nullopt;
  return scenario.reports.period;
}

void describe(Section& s, HostsSpec& hosts) {
  s.value("mtu", hosts.mtu, {100, 9000}, "largest IP packet in bytes; the MSS follows from it");
  s.value("timestamps", hosts.timestamps, "TCP timestamps (RFC 7323)");
  s.value("sack", hosts.sack, "selective acknowledgments (RFC 2018)");
  s.value("ecn", hosts.ecn, "explicit congestion notification (RFC 3168); needs routers that mark");
  s.value("accurate_ecn", hosts.accurate_ecn,
          "accurate ECN (RFC 9768), which reports the number of marked packets; prague and abc need it");
  s.value("receive_buffer", hosts.receive_buffer, {Bytes(4096), Bytes(1 << 30)}, "per connection");
  s.value("send_buffer", hosts.send_buffer, {Bytes(4096), Bytes(1 << 30)}, "per connection");
  s.section(
      "tcp",
      [&hosts](Section& below) {
        describe(below, hosts.tcp);
        below.value("takes_back", hosts.tcp.takes_back,
                    "undoes window reductions after spurious retransmissions (RFC 3522, 3708, 5682); false: as stacks "
                    "before 2003, including ns-2's NewReno");
        below.value("classic_reno", hosts.tcp.classic_reno,
                    "Reno of RFC 2001, before 1999: a partial ACK ends fast recovery without a retransmission, no "
                    "limited transmit, no undo; needs sack: false");
        below.value("ack_every", hosts.ack_every, {2, 64},
                    "in-order segments per ACK: 2 in RFC 5681, more with LRO or GRO as on phones; an ACK for fewer "
                    "segments is sent after delayed_ack, with the state of that time");
      },
      "settings of the hosts' TCP endpoints");
  s.check(!hosts.tcp.classic_reno || !hosts.sack, "tcp", "classic_reno only with sack: false", "sack: true");
}

void describe(Section& s, RatioSpec& ratio) {
  s.required().value("column", ratio.column, "mode or a swept column, in which the compared runs differ");
  s.required().value("base", ratio.base, "value of that column in the runs that are the divisor");
  s.required().list("of", ratio.of, {1, 16}, "columns of results.csv; the ratio of each is the column ratio_NAME");
  for (const std::string& column : ratio.of) {
    s.check(is_result_column(column) && !column.starts_with(ratio_prefix), "of", "columns of results.csv",
            "\"" + column + "\"");
  }
}

void describe(Section& s, SweepSpec& sweep) {
  s.value("column", sweep.column,
          "name of the column in the results, with its unit, such as period_s; mode: its labels replace the modes; not "
          "needed if `with` is set");
  s.required().list("keys", sweep.keys, {1, 64},
                    "keys that get the value, such as cell.ues.0.channel.period or cell.ues.*.buffer");
  s.value("unit", sweep.unit, "text appended to each value, such as a unit");
  s.required().list("values", sweep.values, {1, 1000}, "values, one point each");
  s.list("labels", sweep.labels, {0, 1000}, "labels of the points in the results; empty: the values");
  s.value("with", sweep.with,
          "column of an earlier sweep that advances together with this one; empty: an independent sweep");
  s.check(sweep.labels.empty() || sweep.labels.size() == sweep.values.size(), "labels", "as many as values",
          std::to_string(sweep.labels.size()));
  s.check(!sweep.column.empty() || !sweep.with.empty(), "column", "a name unless it advances with another sweep",
          "none");
  s.check(sweep.column.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
              sweep.column != "seed",
          "column", "lower-case letters, digits and _, not seed", "\"" + sweep.column + "\"");
  s.check(!is_result_column(sweep.column) && sweep.column != "scenario" && sweep.column != "clock" &&
              !sweep.column.starts_with(paper_prefix),
          "column", "a name that results.csv does not have already", "\"" + sweep.column + "\"");
}

void describe(Section& s, LivePageSpec& page) {
  s.required().value("listen", page.listen, "address at which HTTP serves the page");
  config::describe(s, page);
  config::check_reach(s, page, page.listen, "listen");
}

void describe(Section& s, LiveSpec& live) {
  s.value("cell_core", live.cell_core, "device of the port towards the proxy's radio port");
  s.value("cell_ue", live.cell_ue, "device of the UEs' port; empty: built-in UEs");
  s.value("hop_server", live.hop_server, "device of the servers' port; empty: built-in servers");
  s.value("hop_proxy", live.hop_proxy,
          "device of the port towards the proxy's core port; empty: the servers are elsewhere");
  s.value("mtu", live.mtu, {576, 9000}, "longest IP packet in bytes");
  s.value("fix_offloads", live.fix_offloads,
          "corrects a kernel interface (GRO and LRO off, link up, MTU) instead of refusing it, and makes the host at "
          "the other end of a veth segment in software");
  s.choice("poll", live.poll, poll_modes, "polling policy when nothing is due");
  proxy::describe_priority(s, live.poll, live.priority);
  s.value("cpu", live.cpu, {0, 1023}, "processor of the poll thread; not set: not pinned");
  s.value("buffers", live.buffers, {1024, 16'777'216}, "packet buffers of 2 KiB");
  s.value("hugepages", live.hugepages, "huge pages instead of ordinary memory");
  s.list("eal_arguments", live.eal_arguments, {0, 64}, "further EAL arguments, one word each");
  s.section("feedback", live.feedback, "the UDP protocol with the proxy; required by mode smvs");
  s.section("page", live.page, "live page for browsers; not set: no page");
}

void describe(Section& s, Scenario& scenario) {
  s.value("title", scenario.title, "title of the report");
  s.value("description", scenario.description, "paragraph at the start of the report");
  s.value("seed", scenario.seed, "seed of all random numbers");
  s.value("duration", scenario.duration, {100ms, 24h}, "duration of a run");
  s.value("warmup", scenario.warmup, {0s, 24h}, "time at the start of a run that is not measured");
  s.list("modes", scenario.modes, {1, 32}, "modes to run: none (a wire), or a mode of the proxy");
  s.section("server_proxy", scenario.server_proxy, "the hop between servers and proxy");
  s.section("proxy_nodeb", scenario.proxy_nodeb, "the hop between proxy and Node-B");
  s.required().section("cell", scenario.cell, "radio access: the first Node-B and its UEs");
  describe_nodebs(s, scenario);
  describe_hosts(s, scenario);
  describe_moves(s, scenario);
  s.sections("apps", scenario.apps, {0, 10'000}, "applications of the built-in UEs");
  derive_law(scenario);
  describe_proxy(s, scenario);
  s.section("smvs", scenario.proxy.smvs, "SMVS settings; delay, frame and buffer follow from the topology if not set");
  control::describe_laws(s, scenario.proxy.laws);
  s.section(
      "reports", [&scenario](Section& below) { describe_reports(below, scenario.reports); },
      "path of reports and statuses; loss in virtual time only");
  s.sections("sweep", scenario.sweep, {0, 16}, "keys to vary, one run per combination of values");
  s.value("interval", scenario.interval, {1ms, 1min}, "interval of the time series");
  s.section(
      "output", [&scenario](Section& below) { describe_output(below, scenario.output); },
      "output besides results.csv and series.csv");
  s.section("paper", scenario.paper, "figure or table of a paper that the experiment reproduces");
  s.value("buffers", scenario.buffers, {1024, 16'777'216}, buffers_text);
  s.section("live", scenario.live, "settings of real-time runs");
  check_live_nodebs(s, scenario);
  s.check(scenario.warmup < scenario.duration, "warmup", "less than duration",
          Scalar<Duration>::format(scenario.warmup));
  s.check(scenario.duration / scenario.interval <= 1'000'000, "interval", "at most a million intervals in the duration",
          Scalar<Duration>::format(scenario.interval));
  check_topology(s, scenario);
  check_advertising(s, scenario);
  for (const RunMode mode : scenario.modes) {
    s.check(!scenario.cell.is_wlan() || !report_period(scenario, mode), "modes",
            "none, bypass, i-tcp, or fair-share with a radio_buffer, because an access point sends no reports",
            std::string(to_string(mode)));
  }
  check_sweeps(s, scenario);
  check_ratio(s, scenario);
  check_plots(s, scenario);
  advise_on_links(s, scenario);
}

}  // namespace sluice::emulator
