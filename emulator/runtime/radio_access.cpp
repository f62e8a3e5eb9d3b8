// Builds the radio side of a run: cells or an access point, hops to the Node-Bs, uplinks, handovers; and counts them.
// Network creates one RadioAccess per run. Invariant: elements are created from the receivers backwards, and
// DeferredElement closes the cycles.

#include "emulator/runtime/radio_access.hpp"

#include <utility>

#include "emulator/channel/block_errors.hpp"

namespace sluice::emulator {
namespace {

/// Returns the random stream of hop number `hop` (0 … 4) of Node-B number `nodeb`. Streams 0 to 4 belong to the hops of
/// the first Node-B and of the core. Each further Node-B has five streams of its own.
Random draws(std::uint64_t seed, std::uint32_t nodeb, std::uint64_t hop) {
  return Random::stream(seed, "hop", nodeb == 0 ? hop : 5 * nodeb + hop);
}

std::vector<IpAddress> addresses_of(const UeSpec& ue) {
  std::vector<IpAddress> addresses = ue.more_addresses;
  addresses.push_back(ue.address);
  return addresses;
}

UeConfig ue_config(const Scenario& scenario, std::uint32_t nodeb, std::uint32_t ue, std::uint64_t seed,
                   TraceLibrary& traces) {
  const UeSpec& spec = scenario.cell.ues[ue];
  UeConfig config;
  config.address = spec.address;
  config.queue = {spec.frame, spec.buffer.unit, spec.buffer.limit,        spec.drop,
                  spec.order, spec.flows,       Bytes(scenario.hosts.mtu)};
  config.queue.management = spec.queue.type;
  config.queue.codel = spec.queue.codel;
  config.queue.dualpi2 = spec.queue.dualpi2;
  config.queue.abc = spec.queue.abc;
  config.channel = make_moving_channel(scenario, nodeb, ue, seed, traces);
  config.air = scenario.radio(nodeb).harq;
  config.here = spec.home == nodeb;
  config.sector = config.here ? spec.cell : 0;
  config.loss = spec.loss;
  config.loss_run = spec.loss_run;
  config.loss_draws = Random::stream(seed, "air loss", ue + (std::uint64_t{nodeb} << 32));
  if (spec.channel.type == ChannelType::clamp) config.attempts = spec.channel.clamp.attempts;
  return config;
}

/// Returns the queue configuration of a UE's uplink. For a UE without an uplink of its own, `spec` is a default
/// UplinkSpec.
QueueConfig uplink_queue(const Scenario& scenario, const UplinkSpec& spec) {
  QueueConfig queue{spec.frame, spec.buffer.unit, spec.buffer.limit, spec.drop};
  queue.packet = Bytes(scenario.hosts.mtu);
  queue.management = spec.queue.type;
  queue.codel = spec.queue.codel;
  queue.dualpi2 = spec.queue.dualpi2;
  return queue;
}

void add_queue(std::map<std::string, std::uint64_t>& counters, const std::string& name, const Hop& hop) {
  if (!hop.bounded()) return;
  counters[name + "_drops"] += hop.dropped();
  if (hop.queue() != nullptr) counters[name + "_marks"] += hop.queue()->marked;
}

/// Adds the early drops and ECN marks of radio queues with active queue management.
void count_managed(std::map<std::string, std::uint64_t>& counters, const Cell& cell) {
  for (UeIndex ue = 0; ue < cell.ues(); ++ue) {
    const UeQueue& queue = cell.queue(ue);
    if (queue.config().management == QueueManagement::none) continue;
    counters["radio_early_drops"] += queue.counters().early_packets;
    counters["radio_marks"] += queue.counters().marked_packets;
  }
}

}  // namespace

RadioAccess::Site::Site(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, std::uint32_t nodeb,
                        Element& to_core)
    : down(loop, scenario.proxy_nodeb, draws(seed, nodeb, 0), to_radio),
      up(loop, scenario.proxy_nodeb, draws(seed, nodeb, 2), to_core, StepDirection::up),
      uplink(loop, scenario.radio(nodeb).uplink, draws(seed, nodeb, 3), up, StepDirection::up) {
  const std::optional<QueueSpec>& queue = scenario.proxy_nodeb.queue;
  if (queue && queue->advertise) gwa_router.emplace(down, scenario.proxy_nodeb);
}

RadioAccess::RadioAccess(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                         TraceLibrary& traces, const Ends& ends) {
  for (std::uint32_t nodeb = 0; nodeb < scenario.nodeb_count(); ++nodeb) {
    sites_.push_back(std::make_unique<Site>(loop, scenario, seed, nodeb, ends.to_core));
  }
  if (scenario.cell.is_wlan()) {
    make_access_point(loop, scenario, seed, ends);
    return;
  }
  make_sleep(scenario);
  for (std::uint32_t nodeb = 0; nodeb < nodebs(); ++nodeb) make_cell(loop, scenario, nodeb, seed, traces, ends);
  if (nodebs() > 1) connect_nodebs(loop, pool, scenario, seed);
  if (scenario.cell.uplink.scheduled) {
    make_scheduled_uplink(loop, scenario, seed, traces);
  } else {
    make_uplinks(loop, scenario, seed, traces);
  }
  make_mobility(loop, scenario);
}

void RadioAccess::make_access_point(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, const Ends& ends) {
  wlan_.emplace(loop, scenario.cell.wlan, Random::stream(seed, "wlan"), ends.ues, from_air_);
  for (const UeSpec& ue : scenario.cell.ues) {
    const UeIndex index = wlan_->add_ue(ue.address);
    for (const IpAddress& address : ue.more_addresses) wlan_->add_address(index, address);
  }
  from_air_.set_next(sites_.front()->uplink);
  sites_.front()->to_radio.set_next(*wlan_);
}

void RadioAccess::make_cell(EventLoop& loop, const Scenario& scenario, std::uint32_t nodeb, std::uint64_t seed,
                            TraceLibrary& traces, const Ends& ends) {
  const RadioSpec& radio = scenario.radio(nodeb);
  const auto scheduler = [&radio] { return make_scheduler(radio.scheduler, radio.pf_window); };
  Cell& cell = sites_[nodeb]->cell.emplace(loop, radio.tti, scheduler(), ends.ues, radio.resources);
  for (std::uint32_t i = 1; i < radio.cells; ++i) cell.add_sector(scheduler());
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    UeConfig config = ue_config(scenario, nodeb, i, seed, traces);
    if (!sleep_.empty()) config.drx = sleep_[i].get();
    const UeIndex ue = cell.add_ue(std::move(config));
    for (const IpAddress& address : scenario.cell.ues[i].more_addresses) cell.add_address(ue, address);
  }
  cell.set_default_route(&ends.past);
  sites_[nodeb]->to_radio.set_next(cell);
}

void RadioAccess::connect_nodebs(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario,
                                 std::uint64_t seed) {
  UeMap ues;
  for (const UeSpec& ue : scenario.cell.ues) ues.add(addresses_of(ue), ue.home);
  std::vector<Cell*> cells;
  std::vector<Element*> down;
  std::vector<Element*> up;
  for (const auto& site : sites_) {
    site->to_radio.set_next(site->port.emplace(loop, *site->cell));
    cells.push_back(&*site->cell);
    down.push_back(&site->down);
    up.push_back(&site->uplink);
  }
  for (std::uint32_t from = 0; from < nodebs(); ++from) {
    MobilityNodeb& node = neighbours_.emplace_back();
    for (std::uint32_t to = 0; to < nodebs(); ++to) {
      const std::uint64_t number = std::uint64_t{from} * nodebs() + to;
      auto& lines = sites_[from]->lines;
      lines.push_back(std::make_unique<Hop>(loop, scenario.forwarding, Random::stream(seed, "forwarding", number),
                                            sites_[to]->port->neighbours()));
      node.onwards.push_back(lines.back().get());
    }
  }
  group_.emplace(std::move(cells));
  uplink_switch_.emplace(ues, std::move(up));
  path_switch_.emplace(pool, std::move(ues), std::move(down));
}

void RadioAccess::make_uplinks(EventLoop& loop, const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces) {
  Element& next = uplink_switch_ ? *uplink_switch_ : static_cast<Element&>(sites_.front()->uplink);
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    const UeSpec& ue = scenario.cell.ues[i];
    if (!ue.uplink) continue;
    if (!uplinks_) uplinks_.emplace(loop, scenario.cell.tti, next);
    UplinkConfig config;
    config.addresses = addresses_of(ue);
    config.queue = uplink_queue(scenario, *ue.uplink);
    config.channel = make_moving_uplink(scenario, i, seed, traces);
    uplinks_->add_ue(std::move(config));
  }
  if (uplinks_) uplinks_->set_observer(&uplink_meter_);
}

/// Creates the scheduled uplink for the first Node-B. There is no other one, because describe() rejects scenarios with
/// a scheduled uplink and several Node-Bs.
void RadioAccess::make_scheduled_uplink(EventLoop& loop, const Scenario& scenario, std::uint64_t seed,
                                        TraceLibrary& traces) {
  const ScheduledUplinkSpec& spec = *scenario.cell.uplink.scheduled;
  scheduled_.emplace(loop, scenario.cell.tti, spec, sites_.front()->uplink);
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    const UeSpec& ue = scenario.cell.ues[i];
    UplinkUeConfig config;
    config.addresses = addresses_of(ue);
    config.queue = uplink_queue(scenario, ue.uplink.value_or(UplinkSpec{}));
    config.channel = make_moving_uplink(scenario, i, seed, traces);
    if (!uplink_channel(scenario, i).has_transport_blocks()) {
      config.channel = std::make_unique<BlockErrorChannel>(std::move(config.channel), spec.block_errors,
                                                           Random::stream(seed, "uplink blocks", i));
    }
    if (!sleep_.empty()) config.drx = sleep_[i].get();
    scheduled_->add_ue(std::move(config));
  }
  scheduled_->set_observer(&uplink_meter_);
}

void RadioAccess::make_sleep(const Scenario& scenario) {
  if (!scenario.cell.uplink.scheduled || !scenario.cell.uplink.scheduled->drx) return;
  const DrxParameters& drx = *scenario.cell.uplink.scheduled->drx;
  const auto ues = static_cast<std::int64_t>(scenario.cell.ues.size());
  for (std::int64_t i = 0; i < ues; ++i) sleep_.push_back(std::make_unique<Drx>(drx, drx.cycle * i / ues));
}

void RadioAccess::make_mobility(EventLoop& loop, const Scenario& scenario) {
  if (scenario.moves.empty()) return;
  neighbours_.resize(nodebs());
  for (std::uint32_t i = 0; i < nodebs(); ++i) {
    neighbours_[i].cell = &*sites_[i]->cell;
    if (sites_[i]->port) neighbours_[i].port = &*sites_[i]->port;
  }
  Mobility::Switches switches;
  if (path_switch_) switches = {&*path_switch_, &*uplink_switch_};
  mobility_.emplace(loop, neighbours_, switches, scenario);
}

Element& RadioAccess::downlink() {
  return path_switch_ ? *path_switch_ : static_cast<Element&>(sites_.front()->down);
}

Element& RadioAccess::uplink() {
  if (wlan_) return wlan_->uplink();
  if (uplinks_) return *uplinks_;
  if (scheduled_) return *scheduled_;
  return uplink_switch_ ? *uplink_switch_ : static_cast<Element&>(sites_.front()->uplink);
}

RadioCell& RadioAccess::radio() {
  if (wlan_) return *wlan_;
  return group_ ? *group_ : static_cast<RadioCell&>(*sites_.front()->cell);
}

void RadioAccess::count(std::map<std::string, std::uint64_t>& counters) const {
  for (const auto& site : sites_) {
    add_queue(counters, "proxy_nodeb_down", site->down);
    add_queue(counters, "proxy_nodeb_up", site->up);
  }
  if (wlan_) count_access_point(counters);
  if (uplinks_ || scheduled_) count_uplink(counters);
  if (group_) count_handovers(counters);
  if (wlan_) return;
  count_hybrid_arq(counters);
  for (const auto& site : sites_) count_managed(counters, *site->cell);
}

std::optional<std::uint64_t> RadioAccess::hop_drops() const {
  std::optional<std::uint64_t> sum;
  for (const auto& site : sites_) {
    if (site->down.bounded()) sum = sum.value_or(0) + site->down.dropped();
  }
  return sum;
}

void RadioAccess::count_access_point(std::map<std::string, std::uint64_t>& counters) const {
  counters["access_point_data"] = wlan_->sent(0).data;
  counters["access_point_acks"] = wlan_->sent(0).acks;
  counters["access_point_data_drops"] = wlan_->dropped(0).data;
  counters["access_point_ack_drops"] = wlan_->dropped(0).acks;
  WlanPackets sent;
  std::uint64_t drops = 0;
  for (std::size_t i = 1; i <= wlan_->ues(); ++i) {
    sent.data += wlan_->sent(i).data;
    sent.acks += wlan_->sent(i).acks;
    drops += wlan_->dropped(i).all();
  }
  counters["station_data"] = sent.data;
  counters["station_acks"] = sent.acks;
  counters["station_drops"] = drops;
}

void RadioAccess::count_uplink(std::map<std::string, std::uint64_t>& counters) const {
  counters["uplink_drops"] = uplink_meter_.drops;
  counters["uplink_delay_p50_us"] = whole_microseconds(uplink_meter_.delays.percentile(0.50));
  counters["uplink_delay_p95_us"] = whole_microseconds(uplink_meter_.delays.percentile(0.95));
  if (!scheduled_) return;
  counters["uplink_requests"] = scheduled_->counters().requests;
  counters["uplink_grants"] = scheduled_->counters().grants;
  counters["uplink_padding"] = scheduled_->counters().padding;
  for (std::size_t ue = 0; ue < scheduled_->ues(); ++ue) {
    counters["uplink_retransmissions"] += scheduled_->ue(ue).air().counters().retransmissions;
  }
}

void RadioAccess::count_handovers(std::map<std::string, std::uint64_t>& counters) const {
  counters["handovers"] = mobility_ ? mobility_->handovers() : 0;
  counters["handover_uplink_drops"] = uplink_switch_->dropped();
  for (const auto& site : sites_) {
    for (const auto& line : site->lines) counters["forwarding_drops"] += line->dropped();
    counters["handover_held_packets"] += site->port->counters().held_packets;
    counters["end_markers_missed"] += site->port->counters().timeouts;
    for (UeIndex ue = 0; ue < site->cell->ues(); ++ue) {
      const QueueCounters& queue = site->cell->queue(ue).counters();
      counters["forwarded_packets"] += queue.forwarded_packets;
      counters["forwarded_bytes"] += queue.forwarded_bytes;
    }
  }
}

void RadioAccess::count_hybrid_arq(std::map<std::string, std::uint64_t>& counters) const {
  for (const auto& site : sites_) {
    for (UeIndex ue = 0; ue < site->cell->ues(); ++ue) {
      if (site->cell->air(ue) == nullptr) continue;
      const AirLinkCounters& air = site->cell->air(ue)->counters();
      counters["harq_blocks"] += air.blocks;
      counters["harq_retransmissions"] += air.retransmissions;
      counters["harq_given_up"] += air.given_up;
      counters["rlc_lost_packets"] += site->cell->queue(ue).counters().lost_packets;
    }
  }
}

}  // namespace sluice::emulator
