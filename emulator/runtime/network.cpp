#include "emulator/runtime/network.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator {
namespace {

Element& needed(Element* end) {
  if (end == nullptr) throw std::invalid_argument("network: an end is missing");
  return *end;
}

Random draws(std::uint64_t seed, std::uint64_t hop) {
  return Random::stream(seed, "hop", hop);
}

std::uint64_t microseconds(Duration span) {
  return static_cast<std::uint64_t>(span / std::chrono::microseconds(1));
}

void count_queue(std::map<std::string, std::uint64_t>& counters, const std::string& name, const Hop& hop) {
  const DisciplineCounters* const queue = hop.queue();
  if (queue == nullptr) return;
  counters[name + "_drops"] = queue->dropped();
  counters[name + "_marks"] = queue->marked;
}

/// What active queue management did in the radio queues that have any.
void count_managed(std::map<std::string, std::uint64_t>& counters, const Cell& cell) {
  for (UeIndex ue = 0; ue < cell.ues(); ++ue) {
    const UeQueue& queue = cell.queue(ue);
    if (queue.config().management == QueueManagement::none) continue;
    counters["radio_early_drops"] += queue.counters().early_packets;
    counters["radio_marks"] += queue.counters().marked_packets;
  }
}

}  // namespace

ReporterConfig reporter_config(const Scenario& scenario) {
  const proxy::SmvsMode& smvs = scenario.proxy.smvs;
  ReporterConfig config;
  config.period = smvs.parameters.step;
  config.sharp_change = scenario.reports.sharp_change;
  config.mean_alpha = smvs.parameters.alpha;
  if (smvs.law == proxy::LawPlace::nodeb) config.law = smvs.parameters;
  config.price = scenario.proxy.laws.price;
  config.advertised_buffer = scenario.proxy.laws.gwa.buffer;
  return config;
}

// Members are made from the UEs backwards, so that each finds the one it sends to.
Network::Network(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces,
                 const NetworkEnds& ends)
    : to_ues_([this](const packet::Packet& packet, Instant now) { meter_->at_ue(packet, now); }, needed(ends.ues)),
      radio_down_(loop, scenario.proxy_nodeb, draws(seed, 0), to_radio_),
      from_proxy_([this](const packet::Packet& packet, Instant now) { meter_->at_proxy(packet, now); }, radio_down_),
      to_proxy_radio_([this](const packet::Packet& packet, Instant now) { meter_->uplink(packet, now); },
                      ends.proxy_radio != nullptr ? *ends.proxy_radio : static_cast<Element&>(core_up_)),
      core_up_(loop, scenario.server_proxy, draws(seed, 1), needed(ends.servers)),
      radio_up_(loop, scenario.proxy_nodeb, draws(seed, 2), to_proxy_radio_),
      uplink_(loop, scenario.cell.uplink, draws(seed, 3), radio_up_),
      core_down_(loop, scenario.server_proxy, draws(seed, 4),
                 ends.proxy_core != nullptr ? *ends.proxy_core : static_cast<Element&>(from_proxy_)),
      from_servers_([this](const packet::Packet& packet, Instant now) { meter_->at_server(packet, now); }, core_down_) {
  make_cell(loop, scenario, seed, traces, ends);
}

void Network::make_cell(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces,
                        const NetworkEnds& ends) {
  const CellSpec& spec = scenario.cell;
  if (spec.is_wlan()) {
    wlan_.emplace(loop, spec.wlan, Random::stream(seed, "wlan"), to_ues_, from_radio_);
    for (const UeSpec& ue : spec.ues) {
      const UeIndex index = wlan_->add_ue(ue.address);
      for (const IpAddress& address : ue.more_addresses) wlan_->add_address(index, address);
    }
    from_radio_.lead_to(uplink_);
    to_radio_.lead_to(*wlan_);
    meter_ = std::make_unique<Meter>(loop, *wlan_, scenario);
    return;
  }
  cell_.emplace(loop, spec.tti, make_scheduler(spec.scheduler, spec.pf_window), to_ues_, spec.resources);
  for (std::uint32_t i = 1; i < spec.cells; ++i) cell_->add_sector(make_scheduler(spec.scheduler, spec.pf_window));
  add_ues(scenario, seed, traces);
  cell_->set_default_route(ends.ues);  // ARP and the like need no radio queue
  to_radio_.lead_to(*cell_);
  make_uplinks(loop, scenario, seed, traces);
  if (!scenario.moves.empty()) mobility_.emplace(loop, *cell_, scenario.moves);
  meter_ = std::make_unique<Meter>(loop, *cell_, scenario);
}

Element& Network::from_ues() {
  if (wlan_) return wlan_->uplink();
  return uplinks_ ? *uplinks_ : static_cast<Element&>(uplink_);
}

void Network::make_uplinks(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces) {
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    const UeSpec& ue = scenario.cell.ues[i];
    if (!ue.uplink) continue;
    if (!uplinks_) uplinks_.emplace(loop, scenario.cell.tti, uplink_);
    UplinkConfig config;
    config.addresses = ue.more_addresses;
    config.addresses.push_back(ue.address);
    config.queue = {ue.uplink->frame, ue.uplink->buffer.unit, ue.uplink->buffer.limit, ue.uplink->drop};
    config.queue.packet = Bytes(scenario.hosts.mtu);
    config.queue.management = ue.uplink->queue.type;
    config.queue.codel = ue.uplink->queue.codel;
    config.channel = make_moving_uplink(scenario, i, seed, traces);
    uplinks_->add_ue(std::move(config));
  }
  if (uplinks_) uplinks_->set_observer(&uplink_meter_);
}

void Network::add_ues(const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces) {
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    const UeSpec& spec = scenario.cell.ues[i];
    UeConfig config;
    config.address = spec.address;
    config.queue = {spec.frame, spec.buffer.unit, spec.buffer.limit,        spec.drop,
                    spec.order, spec.flows,       Bytes(scenario.hosts.mtu)};
    config.queue.management = spec.queue.type;
    config.queue.codel = spec.queue.codel;
    config.channel = make_moving_channel(scenario, i, seed, traces);
    config.air = scenario.cell.harq;
    config.sector = spec.cell;
    config.loss = spec.loss;
    config.loss_draws = Random::stream(seed, "air loss", i);
    if (spec.channel.type == ChannelType::clamp) config.attempts = spec.channel.clamp.attempts;
    const UeIndex ue = cell_->add_ue(std::move(config));
    for (const IpAddress& address : spec.more_addresses) cell_->add_address(ue, address);
  }
}

void Network::count(std::map<std::string, std::uint64_t>& counters) const {
  count_queue(counters, "server_proxy_down", core_down_);
  count_queue(counters, "server_proxy_up", core_up_);
  count_queue(counters, "proxy_nodeb_down", radio_down_);
  count_queue(counters, "proxy_nodeb_up", radio_up_);
  if (wlan_) {
    std::uint64_t station_drops = 0;
    for (std::size_t i = 1; i <= wlan_->ues(); ++i) station_drops += wlan_->dropped(i);
    counters["station_drops"] = station_drops;
  }
  if (uplinks_) {
    counters["uplink_drops"] = uplink_meter_.drops;
    counters["uplink_delay_p50_us"] = microseconds(uplink_meter_.delays.percentile(0.50));
    counters["uplink_delay_p95_us"] = microseconds(uplink_meter_.delays.percentile(0.95));
  }
  if (!cell_ || cell_->ues() == 0) return;
  count_managed(counters, *cell_);
  if (cell_->air(0) == nullptr) return;
  std::uint64_t lost = 0;
  AirLinkCounters sum;
  for (UeIndex ue = 0; ue < cell_->ues(); ++ue) {
    const AirLinkCounters& air = cell_->air(ue)->counters();
    sum.blocks += air.blocks;
    sum.retransmissions += air.retransmissions;
    sum.given_up += air.given_up;
    lost += cell_->queue(ue).counters().lost_packets;
  }
  counters["harq_blocks"] = sum.blocks;
  counters["harq_retransmissions"] = sum.retransmissions;
  counters["harq_given_up"] = sum.given_up;
  counters["rlc_lost_packets"] = lost;
}

}  // namespace sluice::emulator
