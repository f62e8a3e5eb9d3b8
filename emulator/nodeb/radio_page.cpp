// Live page of a real-time Node-B: an HTTP server whose page shows link, queues, delays and UEs. command_live() creates
// it and serves it on its own thread, apart from the poll thread.

#include "emulator/nodeb/radio_page.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "emulator/cell/drop_reason.hpp"

namespace sluice::emulator {
namespace {

using Json = nlohmann::ordered_json;

http::HttpServer::Endpoint endpoint_of(const config::SocketAddress& address) {
  return {boost::asio::ip::make_address(address.address.to_string()), address.port};
}

/// Returns JSON null if nothing was measured in the interval; the page draws it as a gap.
Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json ues(const LiveStatus& status) {
  Json list = Json::array();
  for (const UeNow& ue : status.ues) {
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
      page_(context_, {spec.token, spec.beyond_loopback, spec.names},
            {[this](const std::function<void(const std::string&)>& take) { take(view()); }, {}}),
      server_(context_, endpoint_of(spec.listen), "live.page.listen",
              [this](const http::Request& request) -> http::HttpServer::Reply {
                constexpr unsigned not_found = 404;
                auto reply = page_.answer(request);
                return reply ? std::move(*reply) : http::plain(not_found, "there is /\n");
              }) {
  spdlog::info("page: {}", http::address_of(server_.local()));
}

std::string RadioPage::view() const {
  const LiveStatus status = run_.status();
  const SeriesPoint& point = status.point;
  const Json view = {{"program", "nodeb"},
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
