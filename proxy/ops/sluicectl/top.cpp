// Computes and formats the tables of `sluicectl top` from two answers of the program. It opens no connection;
// main.cpp sends the commands. A value that an answer lacks is null and is sorted last.
#include "proxy/ops/sluicectl/top.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <utility>

#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/columns.hpp"
#include "proxy/ops/admin/printable.hpp"

namespace sluice::sluicectl {
namespace {

using admin::Json;

double number(const Json& item, const char* key) {
  const auto at = item.find(key);
  return at != item.end() && at->is_number() ? at->get<double>() : 0;
}

std::string word(const Json& item, const char* key) {
  const auto at = item.find(key);
  return at != item.end() && at->is_string() ? at->get<std::string>() : "";
}

/// Returns a text that identifies a bearer or flow, by which it is found in the answers of the next interval.
std::string name_of(const Json& item) {
  return word(item, "ue") + " " + word(item, "server") + " " + std::to_string(number(item, "policy"));
}

/// Returns the value as a whole number in JSON, because counts have no decimals.
Json whole(double value) {
  return std::llround(value);
}

/// Computes bit rates from the values of a byte counter in two answers of the program and the time between them.
class Rates {
 public:
  Rates(const Json& before, const char* counter, double seconds) : counter_(counter), seconds_(seconds) {
    for (const Json& item : before) {
      if (item.contains(counter) && item[counter].is_number()) before_[name_of(item)] = number(item, counter);
    }
  }
  [[nodiscard]] Json of(const Json& item) const {
    const auto at = before_.find(name_of(item));
    const double bytes = at == before_.end() ? -1 : number(item, counter_) - at->second;
    return bytes < 0 || seconds_ <= 0 ? Json() : whole(8 * bytes / seconds_);
  }

 private:
  const char* counter_;
  double seconds_;
  std::map<std::string, double> before_;
};

/// Returns the value of `key`, or null if the answer of the program does not contain it.
Json known(const Json& item, const char* key) {
  const auto at = item.find(key);
  return at != item.end() && at->is_number() ? *at : Json();
}

Json positive(double value) {
  return value > 0 ? Json(value) : Json();
}

Json bearer_row(const Json& bearer, const Rates& rates) {
  return {{"ue", word(bearer, "ue")},
          {"mode", word(bearer, "mode")},
          {"steered_by", word(bearer, "steered_by")},
          {"flows", known(bearer, "flows")},
          {"rate_bps", rates.of(bearer)},
          {"link_bps", number(bearer, "mean_rate_bps") > 0 ? whole(number(bearer, "mean_rate_bps")) : Json()},
          {"queue_bytes", known(bearer, "queue_bytes")},
          {"delay_ms", known(bearer, "queue_delay_ms")},
          {"in_flight_bytes", known(bearer, "in_flight_bytes")},
          {"held_bytes", known(bearer, "held_bytes")}};
}

Json flow_row(const Json& flow, const Rates& rates) {
  return {
      {"ue", word(flow, "ue")},
      {"server", word(flow, "server")},
      {"phase", word(flow, "phase")},
      {"rate_bps", rates.of(flow)},
      {"queue_bytes", whole(std::max(0.0, number(flow, "radio_held_bytes") - number(flow, "radio_in_flight_bytes")))},
      {"delay_ms", positive(number(flow, "radio_srtt_ms"))},
      {"in_flight_bytes", known(flow, "radio_in_flight_bytes")},
      {"retransmissions", known(flow, "radio_retransmissions")}};
}

template <typename Row>
Json rows_of(const Json& before, const Json& now, const char* counter, double seconds, Row row) {
  const Rates rates(before, counter, seconds);
  Json rows = Json::array();
  for (const Json& item : now) rows.push_back(row(item, rates));
  return rows;
}

/// Adds the missing rates of bearers to `rows`. A bearer without a rate controller has no byte count. The sum of the
/// rates of its UE's split connections, from `flow_rows`, is used instead.
void complete_rates(const Json& bearers, Json& rows, const Json& flow_rows) {
  std::map<std::string, double> by_ue;
  for (const Json& flow : flow_rows) {
    const std::string ue = word(flow, "ue");
    if (flow["rate_bps"].is_number()) by_ue[ue.substr(0, ue.find(' '))] += number(flow, "rate_bps");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto known = by_ue.find(word(rows[i], "ue"));
    if (number(bearers[i], "injected_bytes") == 0 && known != by_ue.end()) rows[i]["rate_bps"] = whole(known->second);
  }
}

/// Sorts rows in descending order of the column that `order` selects. Rows with null are last, and rows with equal
/// values keep their order.
void sort_by(Json& rows, Order order) {
  constexpr std::array keys{"rate_bps", "queue_bytes", "delay_ms"};  // indexed by Order
  const char* const key = keys.at(static_cast<std::size_t>(order));
  const auto value = [key](const Json& row) { return row[key].is_number() ? row[key].get<double>() : -1; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) { return value(a) > value(b); });
}

/// Returns the sum of the values of `key` in those rows that contain it.
double sum(const Json& rows, const char* key) {
  double total = 0;
  for (const Json& row : rows) total += number(row, key);
  return total;
}

/// Returns the first `most` rows as a table in readable units. If there are no rows, returns the text `nothing`.
std::string table(const Json& rows, std::span<const admin::Column> columns, std::size_t most, const char* nothing) {
  if (rows.empty()) return nothing;
  Json shown = Json::array();
  for (const Json& row : rows) {
    if (shown.size() >= most) break;
    Json cells = Json::object();
    for (const admin::Column& column : columns) {
      const Json& value = row[std::string(column.key)];
      cells[std::string(column.title)] =
          column.scale == 0 || !value.is_number() ? value : Json(value.get<double>() * column.scale);
    }
    shown.push_back(std::move(cells));
  }
  return admin::to_table(shown);
}

}  // namespace

std::optional<Order> parse_order(std::string_view word) {
  if (word == "rate") return Order::rate;
  if (word == "queue") return Order::queue;
  if (word == "delay") return Order::delay;
  return std::nullopt;
}

namespace {

constexpr std::array handlings{"controlled", "split", "passed"};  // as in the answer of `traffic`

/// Returns how the bytes between two samples were processed, in percent: limited by a rate controller, only split, or
/// passed without control. Returns null if there were no bytes, or if the program does not count them.
Json shares(const Json& before, const Json& now) {
  if (!before.contains("traffic") || !now.contains("traffic")) return nullptr;
  Json object = Json::object();
  double all = 0;
  for (const char* const handling : handlings) {
    const std::string key = std::string(handling) + "_bytes";
    const double bytes = number(now["traffic"], key.c_str()) - number(before["traffic"], key.c_str());
    object[handling] = bytes;
    all += bytes;
  }
  if (all <= 0) return nullptr;
  for (auto& [handling, bytes] : object.items()) bytes = std::round(1000 * bytes.get<double>() / all) / 10;
  return object;
}

}  // namespace

Json top_of(const Look& before, const Look& now, Order order) {
  const double seconds = now.time_s - before.time_s;
  Json bearers = rows_of(before.bearers, now.bearers, "injected_bytes", seconds, bearer_row);
  Json flows = rows_of(before.flows, now.flows, "radio_sent_bytes", seconds, flow_row);
  complete_rates(now.bearers, bearers, flows);
  sort_by(bearers, order);
  sort_by(flows, order);
  return {{"mode", word(now.status, "mode")},
          {"bearers_total", known(now.status, "bearers")},
          {"flows_total", known(now.status, "flows")},
          {"interval_s", seconds},
          {"traffic", shares(before.status, now.status)},
          {"bearers", std::move(bearers)},
          {"flows", std::move(flows)}};
}

std::string to_text(const Json& top, std::optional<std::size_t> rows) {
  constexpr std::size_t around = 7;  // number of lines that are not rows
  const std::size_t free = rows ? std::max(*rows, around + 2) - around : SIZE_MAX;
  const std::size_t max_bearers = std::min(free / 2, top["bearers"].size());
  const std::size_t max_flows_at_once = free - max_bearers;
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(),
                "mode %s, %.0f bearers, %.0f flows, %.2f Mb/s to UEs through split connections\n",
                admin::printable(word(top, "mode")).c_str(), number(top, "bearers_total"), number(top, "flows_total"),
                sum(top["flows"], "rate_bps") * admin::mega);
  std::string head = line.data();
  if (const auto shares = top.find("traffic"); shares != top.end() && shares->is_object()) {
    const char* before = "bytes: ";
    for (const char* const handling : handlings) {
      std::snprintf(line.data(), line.size(), "%s%.1f %% %s", before, number(*shares, handling), handling);
      head += line.data();
      before = ", ";
    }
    head += '\n';
  }
  return head + "\n" + table(top["bearers"], admin::top_bearer_columns, max_bearers, "no bearers\n") + "\n" +
         table(top["flows"], admin::top_flow_columns, max_flows_at_once, "no flows\n");
}

}  // namespace sluice::sluicectl
