// Reduces the answers to `bearers` and `flows` to the columns that `sluicectl` prints. It changes only what people
// see; --json and --wide bypass it. A value that the answer lacks is null, so that programs of other versions are
// readable.
#include "proxy/ops/admin/view.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "proxy/ops/admin/columns.hpp"

namespace sluice::admin {
namespace {

Json value_of(const Json& item, const Column& column) {
  const auto at = item.find(column.key);
  if (at == item.end()) return nullptr;
  if (column.scale == 0 || !at->is_number()) return *at;
  return at->get<double>() * column.scale;
}

Json narrowed(const Json& list, std::span<const Column> columns) {
  Json rows = Json::array();
  for (const Json& item : list) {
    if (!item.is_object()) return list;
    Json row = Json::object();
    for (const Column& column : columns) row[std::string(column.title)] = value_of(item, column);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Adds the columns in `more` to `columns` if `key` has a value other than null in any item of the list.
void add_if_known(std::vector<Column>& columns, const Json& list, const char* key, std::span<const Column> more) {
  const bool known = std::any_of(list.begin(), list.end(), [key](const Json& item) {
    return item.is_object() && item.contains(key) && !item[key].is_null();
  });
  if (known) columns.insert(columns.end(), more.begin(), more.end());
}

/// Returns the rows of the table of bearers. The column of waiting cross traffic (packets of no tracked connection,
/// such as QUIC) is included if any bearer has such traffic. The long-term rate is included if it is known. The columns
/// of the uplink are included if packets of any bearer were dropped or marked. The columns of mode observe, in which no
/// decision is applied, are included if any bearer has a value for them.
Json bearers(const Json& list) {
  std::vector<Column> columns(std::begin(bearer_columns), std::end(bearer_columns));
  const bool waiting = std::any_of(list.begin(), list.end(), [](const Json& item) {
    return item.is_object() && item.contains("cross_traffic_waiting_bytes") && item["cross_traffic_waiting_bytes"] > 0;
  });
  if (waiting) columns.insert(columns.end(), std::begin(waiting_columns), std::end(waiting_columns));
  add_if_known(columns, list, "long_term_rate_bps", long_term_columns);
  const bool signals = std::any_of(list.begin(), list.end(), [](const Json& item) {
    return item.is_object() && item.contains("uplink_signals") && item["uplink_signals"] > 0;
  });
  if (signals) columns.insert(columns.end(), std::begin(uplink_columns), std::end(uplink_columns));
  add_if_known(columns, list, "observed_window_bytes", observed_columns);
  return narrowed(list, columns);
}

/// Returns the rows of the table of flows. If a flow has a reason of a release or reset, the row shows it instead of
/// the TCP state. There is space for one of them only. The prefix "released_" is omitted, because the column of the
/// phase shows it.
Json flows(const Json& list) {
  constexpr std::string_view released = "released_";
  Json rows = narrowed(list, flow_columns);
  for (std::size_t i = 0; i < rows.size() && rows[i].contains("state"); ++i) {
    const auto at = list[i].find("reason");
    if (at == list[i].end() || !at->is_string() || at->get_ref<const std::string&>().empty()) continue;
    const std::string& reason = at->get_ref<const std::string&>();
    rows[i]["state"] = reason.starts_with(released) ? reason.substr(released.size()) : reason;
  }
  return rows;
}

}  // namespace

Json view_of(std::string_view command, const Json& answer) {
  if (!answer.is_array()) return answer;
  if (command == "bearers") return bearers(answer);
  const bool passing = command == "flows" && !answer.empty() && answer.front().contains("passes_for");
  if (passing) return narrowed(answer, passing_columns);
  if (command == "flows") return flows(answer);
  return answer;
}

}  // namespace sluice::admin
