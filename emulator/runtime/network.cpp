#include "emulator/runtime/network.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator {
namespace {

DelayLineConfig line_of(const HopSpec& hop) {
  return {hop.delay, hop.rate, hop.buffer};
}

Element& needed(Element* end) {
  if (end == nullptr) throw std::invalid_argument("network: an end is missing");
  return *end;
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
      cell_(loop, scenario.cell.tti, make_scheduler(scenario.cell.scheduler, scenario.cell.pf_window), to_ues_),
      radio_down_(loop, line_of(scenario.proxy_nodeb), cell_),
      from_proxy_([this](const packet::Packet& packet, Instant now) { meter_->at_proxy(packet, now); }, radio_down_),
      to_proxy_radio_([this](const packet::Packet& packet, Instant now) { meter_->uplink(packet, now); },
                      ends.proxy_radio != nullptr ? *ends.proxy_radio : static_cast<Element&>(core_up_)),
      core_up_(loop, line_of(scenario.server_proxy), needed(ends.servers)),
      radio_up_(loop, line_of(scenario.proxy_nodeb), to_proxy_radio_),
      uplink_(loop, line_of(scenario.cell.uplink), radio_up_),
      core_down_(loop, line_of(scenario.server_proxy),
                 ends.proxy_core != nullptr ? *ends.proxy_core : static_cast<Element&>(from_proxy_)),
      from_servers_([this](const packet::Packet& packet, Instant now) { meter_->at_server(packet, now); }, core_down_) {
  add_ues(scenario, seed, traces);
  cell_.set_default_route(ends.ues);  // ARP and the like need no radio queue
  meter_ = std::make_unique<Meter>(loop, cell_, scenario);
}

void Network::add_ues(const Scenario& scenario, std::uint64_t seed, TraceLibrary& traces) {
  for (std::uint32_t i = 0; i < scenario.cell.ues.size(); ++i) {
    const UeSpec& spec = scenario.cell.ues[i];
    UeConfig config;
    config.address = spec.address;
    config.queue = {spec.frame, spec.buffer.unit, spec.buffer.limit};
    config.channel = make_channel(spec.channel, scenario.cell.tti, seed, i, traces);
    const UeIndex ue = cell_.add_ue(std::move(config));
    for (const IpAddress& address : spec.more_addresses) cell_.add_address(ue, address);
  }
}

}  // namespace sluice::emulator
