// Builds the JSON object that the live page shows twice a second. WebServer calls it with the newest snapshots of all
// shards. Counters are cumulative, so that the page computes rates and a lost event does no harm.
#include "proxy/daemon/status/live_view.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Json;

/// Returns the modes of the active policies. Their order is that of the indices in BearerInfo::policy.
Json policies(const Config& config) {
  Json list = Json::array();
  for (const Policy& policy : config.shard.policies) list.push_back(to_string(policy.settings.mode));
  list.push_back(to_string(config.shard.mode));
  return list;
}

Json ports(const StatusSource& status_source) {
  Json object = Json::object();
  for (std::size_t side = 0; side < 2; ++side) {
    const dpdk::Port& port = *status_source.parts().ports.at(side);
    const dpdk::PortCounters counters = port.counters();
    object[side == 0 ? "radio" : "core"] = {{"device", port.name()},
                                            {"link", to_string(status_source.parts().links.at(side)->link())},
                                            {"received", counters.received},
                                            {"received_bytes", counters.received_bytes},
                                            {"transmitted", counters.transmitted},
                                            {"transmitted_bytes", counters.transmitted_bytes},
                                            {"dropped", counters.transmit_dropped + counters.copy_failed}};
  }
  return object;
}

Json shards(const StatusSource& status_source, const LiveContext& context) {
  Json list = status_source.shards();
  for (std::size_t i = 0; i < list.size() && i < context.processor_times.size(); ++i) {
    const std::optional<Duration>& time = context.processor_times[i];
    list[i]["processor_s"] = time ? Json(to_seconds(*time)) : Json();
  }
  return list;
}

/// Returns the numbers of packets that were delivered to split connections, forwarded and dropped. Forwarded and
/// dropped packets are counted by reason; reasons without packets are left out.
Json packets(const Counters& counters) {
  Json object = {
      {"optimised", counters[Counter::optimised]}, {"forwarded", Json::object()}, {"dropped", Json::object()}};
  for (std::size_t i = 0; i < counter_count; ++i) {
    if (counters.at(i) == 0) continue;
    const std::string_view name = counter_text(i).name;
    for (const auto& [prefix, action] : {std::pair<std::string_view, const char*>{"forward_", "forwarded"},
                                         std::pair<std::string_view, const char*>{"drop_", "dropped"}}) {
      if (name.starts_with(prefix)) object[action][std::string(name.substr(prefix.size()))] = counters.at(i);
    }
  }
  return object;
}

}  // namespace

Json to_json(const std::vector<ModeAvailability>& modes) {
  Json list = Json::array();
  for (const ModeAvailability& offer : modes) {
    const ModeText& text = mode_table[static_cast<std::size_t>(offer.mode)];
    list.push_back({{"mode", text.key},
                    {"allowed", offer.why_not.empty()},
                    {"text", text.text},
                    {"why_not", offer.why_not.empty() ? Json() : Json(offer.why_not)}});
  }
  return list;
}

Json live_view(const StatusSource& status_source, const LiveContext& context, const admin::Answer& details) {
  const Config& config = *status_source.parts().config;
  Json view = {{"program", "sluice"},
               {"time_s", to_seconds(context.now.time_since_epoch())},
               {"status", status_source.status()},
               {"modes", to_json(context.modes)},
               {"policies", policies(config)},
               {"ports", ports(status_source)},
               {"shards", shards(status_source, context)},
               {"packets", packets(status_source.totals())},
               {"traffic", status_source.traffic()},
               {"passing", status_source.passing(20)},
               {"groups", status_source.groups()}};
  if (details.ok) {
    view["flows"] = details.value.at("flows");
    view["bearers"] = details.value.at("bearers");
  } else {
    view["problem"] = details.value;
  }
  return view;
}

}  // namespace sluice::proxy
