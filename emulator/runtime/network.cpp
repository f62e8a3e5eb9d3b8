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

void count_queue(std::map<std::string, std::uint64_t>& counters, const std::string& name, const Hop& hop) {
  if (!hop.bounded()) return;
  counters[name + "_drops"] = hop.dropped();
  if (hop.queue() != nullptr) counters[name + "_marks"] = hop.queue()->marked;
}

}  // namespace

// Creates the network. Members are initialized from the UEs backwards, so that each finds its next element; the taps
// use `meter_` only when packets flow, after it is created.
Network::Network(EventLoop& loop, packet::PacketPool& pool, const Scenario& scenario, std::uint64_t seed,
                 TraceLibrary& traces, const NetworkEnds& ends)
    : to_ues_([this](const packet::Packet& packet, Instant now) { meter_.at_ue(packet, now); }, needed(ends.ues)),
      core_up_(loop, scenario.server_proxy, draws(seed, 1), needed(ends.servers), StepDirection::up),
      to_proxy_radio_([this](const packet::Packet& packet, Instant now) { meter_.uplink(packet, now); },
                      ends.proxy_radio != nullptr ? *ends.proxy_radio : static_cast<Element&>(core_up_)),
      radio_(loop, pool, scenario, seed, traces, {to_ues_, *ends.ues, to_proxy_radio_}),
      from_proxy_([this](const packet::Packet& packet, Instant now) { meter_.at_proxy(packet, now); },
                  radio_.downlink()),
      core_down_(loop, scenario.server_proxy, draws(seed, 4),
                 ends.proxy_core != nullptr ? *ends.proxy_core : static_cast<Element&>(from_proxy_)),
      from_servers_([this](const packet::Packet& packet, Instant now) { meter_.at_server(packet, now); }, core_down_),
      meter_(loop, radio_.radio(), scenario) {
  meter_.watch_router([this] { return core_down_.queued(); });
}

ReporterConfig Network::reporter_config(const Scenario& scenario, std::uint32_t nodeb, Duration period,
                                        std::uint64_t sender) {
  const proxy::SmvsSettings& smvs = scenario.proxy.smvs;
  ReporterConfig config;
  config.period = period;
  config.sharp_change = scenario.reports.sharp_change;
  config.refresh = scenario.reports.refresh;
  config.mean_alpha = smvs.parameters.alpha;
  if (smvs.law == proxy::ControllerLocation::nodeb) config.law = smvs.parameters;
  config.price = scenario.proxy.laws.price;
  config.advertised_buffer = scenario.proxy.laws.gwa.buffer;
  config.upstream = radio_.router(nodeb);
  config.sender = sender;
  return config;
}

void Network::count(std::map<std::string, std::uint64_t>& counters) const {
  count_queue(counters, "server_proxy_down", core_down_);
  count_queue(counters, "server_proxy_up", core_up_);
  radio_.count(counters);
  if (const auto drops = hop_drops()) counters["hop_drops"] = *drops - dropped_before_;
}

std::optional<std::uint64_t> Network::hop_drops() const {
  std::optional<std::uint64_t> sum = radio_.hop_drops();
  if (core_down_.bounded()) sum = sum.value_or(0) + core_down_.dropped();
  return sum;
}

}  // namespace sluice::emulator
