// Builds the built-in servers and UEs of a run with their applications and own hops, and the rows of flows.csv.
// VirtualRun and LiveRun create one object of each; all hosts run in the run's event loop. Invariant: random streams
// are named by the position in the scenario file, so a run depends only on its seed.

#include "emulator/runtime/endpoints.hpp"

namespace sluice::emulator {
namespace {

constexpr std::uint16_t server_port = 80;
constexpr std::uint16_t framed_port = 443;
const std::uint16_t game_port = GameConfig{}.port;

HostConfig host_config(const Scenario& scenario, const IpAddress& address, std::uint8_t kind, std::size_t index) {
  const HostsSpec& hosts = scenario.hosts;
  HostConfig config;
  config.address = address;
  const auto high = static_cast<std::uint8_t>(index >> 8);
  const auto low = static_cast<std::uint8_t>(index);
  config.mac = {0x02, 0x53, 0x4c, kind, high, low};
  config.gateway_mac = {0x02, 0x53, 0x4c, static_cast<std::uint8_t>(kind ^ 1), 0, 0};
  config.mtu = hosts.mtu;
  config.timestamps = hosts.timestamps;
  config.sack = hosts.sack;
  config.ecn = hosts.ecn;
  config.accurate_ecn = hosts.accurate_ecn;
  config.receive_buffer = hosts.receive_buffer;
  config.send_buffer = hosts.send_buffer;
  config.tcp = hosts.tcp;
  config.ack_every = hosts.ack_every;
  return config;
}

}  // namespace

BuiltInServers::BuiltInServers(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                               Element& wire) {
  for (std::size_t i = 0; i < scenario.servers.size(); ++i) {
    const IpAddress& address = scenario.servers[i];
    const HopSpec* const hop = scenario.server_hops.empty() ? nullptr : &scenario.server_hops[i];
    const auto hop_draws = [&](const char* way) { return Random::stream(seed, way, i); };
    Element* out = &wire;
    if (hop != nullptr) {
      hops_.push_back(std::make_unique<Hop>(loop, *hop, hop_draws("server hop down"), wire));
      out = hops_.back().get();
    }
    HostConfig config = host_config(scenario, address, 0, i);
    if (!scenario.server_tcp.empty()) config.tcp = scenario.server_tcp[i];
    hosts_.push_back(std::make_unique<Host>(loop, pool, config, Random::stream(seed, "server", i), *out));
    serve(loop, *hosts_.back(), loop.now() + scenario.warmup, Random::stream(seed, "game", i));
    Element* in = hosts_.back().get();
    if (hop != nullptr) {
      hops_.push_back(std::make_unique<Hop>(loop, *hop, hop_draws("server hop up"), *in, StepDirection::up));
      in = hops_.back().get();
    }
    router_.add(address, *in);
  }
}

void BuiltInServers::serve(EventLoop& loop, Host& host, Instant count_from, Random random) {
  host.listen(server_port,
              [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
  host.listen(framed_port,
              [this](const packet::Addresses& ours) { return std::make_unique<FramedServer>(ours, counters_); });
  games_.push_back(std::make_unique<GameServer>(loop, host, game_log_, count_from, random));
  host.bind(game_port, *games_.back());
}

BuiltInUes::BuiltInUes(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                       Element& wire) {
  log_.count_from = loop.now() + scenario.warmup;
  const auto ues = static_cast<std::uint32_t>(scenario.cell.ues.size());
  for (std::uint32_t i = 0; i < ues; ++i) add_host(loop, pool, scenario, seed, i, scenario.cell.ues[i].address, wire);
  for (std::uint32_t i = 0; i < ues; ++i) {
    for (const IpAddress& address : scenario.cell.ues[i].more_addresses)
      add_host(loop, pool, scenario, seed, i, address, wire);
  }
  for (std::uint32_t i = 0; i < scenario.apps.size(); ++i) {
    AppSpec app = scenario.apps[i];
    // The random stream of an application is named by its position in the file and by its index among the UEs.
    for (std::uint32_t of = 0; of < scenario.apps[i].ues; ++of, ++app.ue)
      add_app(loop, scenario, app, i + (of << 16), seed);
  }
}

void BuiltInUes::add_host(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                          std::uint32_t ue, const IpAddress& address, Element& wire) {
  const std::size_t index = hosts_.size();
  const auto draws = [&](const char* way) { return Random::stream(seed, way, second_hops_.size()); };
  const auto is_behind = [&](const SecondHopSpec& hop) {
    return hop.ue == ue && scenario.servers.at(hop.server).is_v4() == address.is_v4();
  };
  Element* out = &wire;
  Router* from_host = nullptr;
  for (const SecondHopSpec& hop : scenario.second_hops) {
    if (!is_behind(hop)) continue;
    if (from_host == nullptr) {
      uplink_routers_.push_back(std::make_unique<Router>());
      from_host = uplink_routers_.back().get();
      from_host->set_default(&wire);
      out = from_host;
    }
    second_hops_.push_back(std::make_unique<Hop>(loop, hop, draws("second hop up"), wire, StepDirection::up));
    from_host->add(scenario.servers.at(hop.server), *second_hops_.back());
  }
  hosts_.push_back(std::make_unique<Host>(loop, pool, host_config(scenario, address, 1, index),
                                          Random::stream(seed, "ue", index), *out));
  by_address_[address] = hosts_.back().get();
  Element* in = hosts_.back().get();
  if (from_host != nullptr) {
    switches_.push_back(std::make_unique<SourceSwitch>(*in));
    for (const SecondHopSpec& hop : scenario.second_hops) {
      if (!is_behind(hop)) continue;
      second_hops_.push_back(std::make_unique<Hop>(loop, hop, draws("second hop down"), *hosts_.back()));
      down_hops_.push_back(second_hops_.back().get());
      switches_.back()->add(scenario.servers.at(hop.server), *second_hops_.back());
    }
    in = switches_.back().get();
  }
  router_.add(address, *in);
}

Host& BuiltInUes::host_of(const Scenario& scenario, const AppSpec& app) {
  return *by_address_.at(scenario.cell.ues.at(app.ue).address_of(app.address));
}

std::uint64_t BuiltInUes::second_hop_drops() const {
  std::uint64_t sum = 0;
  for (const Hop* const hop : down_hops_) sum += hop->dropped();
  return sum;
}

void BuiltInUes::add_app(EventLoop& loop, const Scenario& scenario, const AppSpec& app, std::uint32_t index,
                         std::uint64_t seed) {
  Host& host = host_of(scenario, app);
  const Instant start = loop.now() + app.start;
  if (app.type == AppType::web) {
    WebConfig web;
    web.server = scenario.servers.at(app.server);
    web.port = server_port;
    web.start = start;
    web.think_time = app.think_time;
    web.objects_min = app.objects_min;
    web.objects_max = app.objects_max;
    web.object_min = app.object_min;
    web.object_max = app.object_max;
    web.object_shape = app.object_shape;
    applications_.push_back(std::make_unique<WebClient>(loop, host, web, Random::stream(seed, "web", index), log_));
    return;
  }
  if (app.type != AppType::bulk) {
    if (!add_user(loop, host, scenario, app, index, seed)) add_stream(loop, host, scenario, app, index, seed);
    return;
  }
  BulkConfig bulk{scenario.servers.at(app.server), server_port, app.direction == Direction::upload, app.size, start};
  if (app.stop) bulk.stop = loop.now() + *app.stop;
  for (std::uint32_t i = 0; i < app.connections; ++i) {
    applications_.push_back(std::make_unique<BulkClient>(loop, host, bulk, log_));
  }
}

bool BuiltInUes::add_user(EventLoop& loop, Host& host, const Scenario& scenario, const AppSpec& app,
                          std::uint32_t index, std::uint64_t seed) {
  const Instant start = loop.now() + app.start;
  const IpAddress& server = scenario.servers.at(app.server);
  switch (app.type) {
    case AppType::video: {
      VideoConfig video{server, server_port, start, app.ladder, app.segment, app.buffer, app.reservoir, 0, app.pause};
      if (app.length)
        video.segments = static_cast<std::uint32_t>((*app.length + app.segment - Duration(1)) / app.segment);
      applications_.push_back(std::make_unique<VideoClient>(loop, host, video, log_));
      return true;
    }
    case AppType::game: {
      const GameConfig game{server, game_port, start, app.tick, app.down, app.up, app.exponential};
      players_.push_back(std::make_unique<GameClient>(loop, host, game, log_));
      return true;
    }
    case AppType::responsiveness: {
      const ResponsivenessConfig config{server, framed_port, start, app.connections, app.loaded, app.interval};
      probers_.push_back(std::make_unique<ResponsivenessClient>(loop, host, config,
                                                                Random::stream(seed, "responsiveness", index), log_));
      return true;
    }
    default:
      return false;
  }
}

void BuiltInUes::add_stream(EventLoop& loop, Host& host, const Scenario& scenario, const AppSpec& app,
                            std::uint32_t index, std::uint64_t seed) {
  const Instant start = loop.now() + app.start;
  const IpAddress& server = scenario.servers.at(app.server);
  const Random random = Random::stream(seed, "stream", index);
  if (app.type == AppType::flows) {
    FlowSourceConfig flows;
    flows.server = server;
    flows.port = server_port;
    flows.upload = app.direction == Direction::upload;
    flows.start = start;
    if (app.stop) flows.stop = loop.now() + *app.stop;
    flows.interval = app.arrivals;
    flows.regular = app.regular;
    flows.objects_mean = app.objects_mean;
    flows.gap = app.gap;
    flows.size = app.sizes;
    sources_.push_back(std::make_unique<FlowSource>(loop, host, flows, random, log_));
    return;
  }
  RequestConfig requests;
  requests.server = server;
  requests.port = server_port;
  requests.start = start;
  requests.size = app.sizes;
  requests.interval = app.think_time;
  if (app.type != AppType::request) {
    requests.name = app.type == AppType::telnet ? "telnet" : "on-off";
    requests.pace = RequestPace::clocked;
    requests.interval = app.interval;
  }
  if (app.type == AppType::on_off) {
    requests.on = app.on;
    requests.off = app.off;
  }
  applications_.push_back(std::make_unique<RequestClient>(loop, host, requests, random, log_));
}

std::vector<FlowRow> flow_rows(const FlowLog& log, const ServerCounters& servers, Instant began) {
  std::vector<FlowRow> rows;
  rows.reserve(log.flows.size());
  for (const FlowRecord& record : log.flows) {
    FlowRow row;
    row.application = record.application;
    row.ue = record.ends.ue.to_string();
    row.ue_port = record.ends.ue_port;
    row.direction = record.upload ? "upload" : "download";
    row.opened_s = to_seconds(record.opened - began);
    if (record.connected != never) row.handshake_ms = to_milliseconds(record.connected - record.opened);
    row.completion_ms = to_milliseconds(record.finished - record.opened);
    row.bytes = record.bytes;
    if (row.completion_ms > 0) row.throughput_bps = static_cast<double>(record.bytes) * 8000 / row.completion_ms;
    row.ue_retransmissions = record.client.retransmitted;
    row.ue_timeouts = record.client.timeouts;
    row.ue_srtt_ms = to_milliseconds(record.client.srtt);
    if (const auto server = servers.ends.find(record.ends); server != servers.ends.end()) {
      row.server_retransmissions = server->second.retransmitted;
      row.server_timeouts = server->second.timeouts;
      row.server_srtt_ms = to_milliseconds(server->second.srtt);
    }
    row.ended = record.reason == tcp::CloseReason::none ? "running" : to_string(record.reason);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sluice::emulator
