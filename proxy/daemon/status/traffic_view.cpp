// Computes the shares of the traffic by its treatment (controlled, split or forwarded), and lists the largest flows
// that pass without control. StatusSource and the admin commands `traffic` and `flows --passing` call it with the
// shards' snapshots.
#include "proxy/daemon/status/traffic_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Json;

constexpr std::string_view forward_prefix = "forward_";
constexpr std::array handlings = {
#define X(name, text) Handling::name,
    SLUICE_PROXY_HANDLINGS(X)
#undef X
};

std::string_view name_of(Handling handling) {
  return handling_table.at(static_cast<std::size_t>(handling)).name;
}

std::uint64_t all_bytes(const Counters& counters) {
  std::uint64_t sum = 0;
  for (const Handling handling : handlings) sum += counters.bytes(handling);
  return sum;
}

/// Returns `part` as a percentage of `all` with one decimal, or null if `all` is zero.
Json percent(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return nullptr;
  return std::round(1000 * static_cast<double>(part) / static_cast<double>(all)) / 10;
}

struct NumberedName {
  std::uint16_t number;
  std::string_view name;
};
/// IP protocols that occur in the traffic of a mobile network, by the number that IANA has assigned.
constexpr std::array protocols = {NumberedName{1, "icmp"},  NumberedName{4, "ipip"},  NumberedName{6, "tcp"},
                                  NumberedName{17, "udp"},  NumberedName{41, "ipv6"}, NumberedName{47, "gre"},
                                  NumberedName{50, "esp"},  NumberedName{51, "ah"},   NumberedName{58, "icmpv6"},
                                  NumberedName{132, "sctp"}};
/// UDP ports of protocols that carry much of a mobile network's traffic. A port only suggests the protocol.
constexpr std::array udp_ports = {
    NumberedName{53, "DNS"},     NumberedName{123, "NTP"},    NumberedName{443, "QUIC"},       NumberedName{500, "IKE"},
    NumberedName{2152, "GTP-U"}, NumberedName{4500, "IPsec"}, NumberedName{51820, "WireGuard"}};

template <std::size_t count>
std::string_view find(const std::array<NumberedName, count>& names, std::uint16_t number) {
  for (const NumberedName& each : names) {
    if (each.number == number) return each.name;
  }
  return {};
}

std::string end_of(const IpAddress& address, std::uint16_t port) {
  return port == 0 ? address.to_string() : fmt::format("{} {}", address.to_string(), port);
}

}  // namespace

void add_traffic_counters(const Counters& counters, std::vector<NamedCounter>& out) {
  for (const Handling handling : handlings) {
    const CounterText& text = handling_table.at(static_cast<std::size_t>(handling));
    if (handling != Handling::passed)
      out.push_back({fmt::format("traffic.{}_bytes", text.name), text.text, counters.bytes(handling), false});
  }
  for (std::size_t i = 0; i < counter_count; ++i) {
    const auto& [name, text] = counter_text(i);
    if (!name.starts_with(forward_prefix)) continue;
    out.push_back({fmt::format("traffic.passed_bytes.{}", name.substr(forward_prefix.size())), text,
                   counters.passed_bytes_at(i), false});
  }
}

Json traffic_summary(const Counters& counters) {
  Json object = Json::object();
  for (const Handling handling : handlings)
    object[fmt::format("{}_bytes", name_of(handling))] = counters.bytes(handling);
  object["controlled_percent"] = percent(counters.bytes(Handling::controlled), all_bytes(counters));
  return object;
}

Json traffic_rows(const Counters& counters) {
  const std::uint64_t all = all_bytes(counters);
  std::vector<std::pair<std::uint64_t, Json>> rows;
  const auto add = [&](Handling handling, std::string_view reason, std::uint64_t bytes) {
    if (bytes == 0) return;
    rows.push_back({bytes,
                    {{"handling", name_of(handling)},
                     {"reason", reason.empty() ? Json() : Json(reason)},
                     {"bytes", bytes},
                     {"share_percent", percent(bytes, all)}}});
  };
  add(Handling::controlled, {}, counters.bytes(Handling::controlled));
  add(Handling::split, {}, counters.bytes(Handling::split));
  for (std::size_t i = 0; i < counter_count; ++i) {
    const std::string_view name = counter_text(i).name;
    if (name.starts_with(forward_prefix))
      add(Handling::passed, name.substr(forward_prefix.size()), counters.passed_bytes_at(i));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Json list = Json::array();
  for (auto& [bytes, row] : rows) list.push_back(std::move(row));
  return list;
}

std::string name_of_protocol(const PassingInfo& flow) {
  const std::string_view name = find(protocols, flow.protocol);
  if (name.empty()) return fmt::format("protocol {}", flow.protocol);
  if (name != "udp") return std::string(name);
  const std::string_view of_server = find(udp_ports, flow.server_port);
  const std::string_view hint = of_server.empty() ? find(udp_ports, flow.ue_port) : of_server;
  return hint.empty() ? std::string(name) : fmt::format("udp ({} by its port)", hint);
}

Json passing_rows(std::vector<PassingInfo> flows, std::size_t limit, Instant now) {
  std::stable_sort(flows.begin(), flows.end(),
                   [](const PassingInfo& a, const PassingInfo& b) { return a.bytes > b.bytes; });
  Json list = Json::array();
  for (const PassingInfo& flow : flows) {
    if (list.size() >= limit) break;
    const double seconds = to_seconds(flow.last - flow.first);
    const auto own = static_cast<double>(flow.bytes - flow.uncertain);
    std::string_view reason = flow.reason;
    if (reason.starts_with(forward_prefix)) reason.remove_prefix(forward_prefix.size());
    list.push_back({{"ue", end_of(flow.ue, flow.ue_port)},
                    {"server", end_of(flow.server, flow.server_port)},
                    {"protocol", name_of_protocol(flow)},
                    {"passes_for", reason},
                    {"bytes", flow.bytes},
                    {"uncertain_bytes", flow.uncertain},
                    {"rate_bps", seconds > 0 ? Json(std::llround(8 * own / seconds)) : Json()},
                    {"seen_for_s", std::round(10 * seconds) / 10},
                    {"last_seen_s", std::round(10 * to_seconds(now - flow.last)) / 10}});
  }
  return list;
}

}  // namespace sluice::proxy
