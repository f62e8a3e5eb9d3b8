// Live page of a real-time Node-B: an HTTP server whose page shows link, queues, delays and UEs. command_live() creates
// it and serves it on its own thread, apart from the poll thread.

#include "emulator/nodeb/radio_page.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "emulator/cell/drop_reason.hpp"

namespace sluice::emulator {
namespace {

using Json = nlohmann::ordered_json;

http::HttpServer::Endpoint endpoint_of(const config::SocketAddress& address) {
  return {boost::asio::ip::make_address(address.address.to_string()), address.port};
}

constexpr auto history_period = std::chrono::seconds(1);
constexpr std::array<std::string_view, 6> history_columns{
    "link_used_bps", "link_rate_bps", "queue_bytes", "queue_delay_ms", "server_to_ue_delay_ms", "outstanding_bytes"};

/// Returns the value as a float. If nothing was measured in the interval, returns NaN, which the history stores for an
/// unknown value.
float or_nan(const std::optional<double>& value) {
  return value ? static_cast<float>(*value) : std::numeric_limits<float>::quiet_NaN();
}

/// Returns the value as JSON. If nothing was measured in the interval, returns null, which the page draws as a gap.
Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json ues(const LiveStatus& status) {
  Json list = Json::array();
  for (const UeStatus& ue : status.ues) {
    list.push_back({{"ue", ue.ue.to_string()},
                    {"state", ue.seen.state},
                    {"queue_bytes", ue.seen.queued.count()},
                    {"offered_bytes", ue.seen.use.offered},
                    {"transmitted_bytes", ue.seen.transmitted_bytes},
                    {"dropped_packets", ue.seen.dropped_packets},
                    {"lost_packets", ue.seen.lost_packets}});
  }
  return list;
}

Json drops(const LiveStatus& status) {
  Json object = Json::object();
  for (std::size_t i = 0; i < status.drops.size(); ++i) object[std::string(drop_table.at(i).name)] = status.drops.at(i);
  return object;
}

}  // namespace

RadioPage::RadioPage(const LivePageSpec& spec, LiveRun& run, std::string mode)
    : run_(run),
      mode_(std::move(mode)),
      history_({history_columns.begin(), history_columns.end()}),
      page_(context_, {spec.token, spec.beyond_loopback, spec.names},
            {[this](const std::function<void(const std::string&)>& take) { take(view()); },
             {},
             [this] { return history_.json(); }}),
      server_(context_, endpoint_of(spec.listen), "live.page.listen",
              [this](const http::Request& request) -> http::HttpServer::Reply {
                constexpr unsigned not_found = 404;
                auto reply = page_.answer(request);
                return reply ? std::move(*reply) : http::plain(not_found, "there is /\n");
              }) {
  spdlog::info("page: {}", http::address_of(server_.local()));
  record_history();
}

void RadioPage::record_history() {
  const LiveStatus status = run_.status();
  const SeriesPoint& point = status.point;
  const std::array<float, history_columns.size()> row{
      static_cast<float>(point.link_used_bps), static_cast<float>(point.link_rate_bps),
      static_cast<float>(point.queue_bytes),   or_nan(point.radio_queue_delay_ms),
      or_nan(point.server_to_ue_delay_ms),     static_cast<float>(point.outstanding_bytes)};
  if (status.time_s > 0) history_.add(status.time_s, row);
  history_timer_.expires_after(history_period);
  history_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) record_history();
  });
}

std::string RadioPage::view() const {
  const LiveStatus status = run_.status();
  const SeriesPoint& point = status.point;
  const Json view = {{"program", "nodeb"},
                     {"sample", Json::parse(history_.newest_json())},
                     {"version", SLUICE_VERSION},
                     {"time_s", status.time_s},
                     {"mode", mode_},
                     {"link_rate_bps", point.link_rate_bps},
                     {"link_used_bps", point.link_used_bps},
                     {"queue_bytes", point.queue_bytes},
                     {"queue_delay_ms", or_null(point.radio_queue_delay_ms)},
                     {"server_to_ue_delay_ms", or_null(point.server_to_ue_delay_ms)},
                     {"outstanding_bytes", point.outstanding_bytes},
                     {"ttis_missed", status.ttis_missed},
                     {"reports", status.reports},
                     {"statuses", status.statuses},
                     {"ues_total", status.ues_total},
                     {"ues", ues(status)},
                     {"drops", drops(status)}};
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice::emulator
