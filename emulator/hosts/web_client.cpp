// Reader of a built-in UE: fetches web pages, one connection per page and one object after the other. BuiltInUes
// creates one client per application of this type. Invariant: one page at a time; an aborted page counts as a failure.

#include "emulator/hosts/web_client.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::emulator {

WebClient::WebClient(EventLoop& loop, Host& host, const WebConfig& config, Random random, FlowLog& log)
    : loop_(loop), host_(host), config_(config), random_(random), log_(log) {
  loop.at(config.start, *this);
}

void WebClient::on_event(std::uint64_t /*tag*/, Instant now) {
  record_ = {};
  record_.application = "web";
  record_.opened = now;
  asked_ = now;
  objects_left_ =
      config_.objects_min + static_cast<std::uint32_t>(random_.below(config_.objects_max - config_.objects_min + 1));
  const Connection& connection = host_.connect(config_.server, config_.port, *this, now);
  current_ = connection.number();
  record_.set_ends(connection.addresses());
}

void WebClient::on_open(Connection& connection, Instant now) {
  record_.connected = now;
  next_object(connection, now);
  asked_ = record_.opened;  // the first object's time includes the handshake, as a user experiences it
}

void WebClient::next_object(Connection& connection, Instant now) {
  const double drawn = random_.pareto(config_.object_shape, static_cast<double>(config_.object_min.count()));
  const double most = static_cast<double>(config_.object_max.count());
  object_left_ = static_cast<std::uint64_t>(std::min(drawn, most));
  asked_ = now;
  connection.send(Request{Request::Verb::fetch, object_left_}.encode());
}

void WebClient::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) {
  const packet::Addresses& addresses = connection.addresses();
  if (!server_pattern(addresses.dst_port, addresses.src_port).matches(record_.bytes, bytes)) {
    ++record_.corrupted;
    ++log_.corrupted;
  }
  record_.bytes += bytes.size();
  object_left_ -= std::min<std::uint64_t>(object_left_, bytes.size());
  if (object_left_ == 0 && objects_left_ > 0) object_complete(connection, now);
}

void WebClient::object_complete(Connection& connection, Instant now) {
  --objects_left_;
  if (asked_ >= log_.count_from) {
    log_.fetch_times.add(now - asked_);
    ++log_.fetches;
  }
  if (objects_left_ > 0) {
    next_object(connection, now);
    return;
  }
  if (record_.opened >= log_.count_from) log_.page_times.add(now - record_.opened);
  end_page(connection, now);
  connection.finish();
}

void WebClient::end_page(Connection& connection, Instant now) {
  record_.finished = now;
  record_.take_counters(connection.endpoint());
  log_.flows.push_back(record_);
  current_ = 0;
  loop_.at(now + from_seconds(random_.exponential(to_seconds(config_.think_time))), *this);
}

void WebClient::on_peer_finished(Connection& connection, Instant /*now*/) {
  connection.finish();
}

void WebClient::on_run_end(Connection& connection, Instant now) {
  if (connection.number() != current_) return;
  record_.finished = now;
  record_.take_counters(connection.endpoint());
  log_.flows.push_back(record_);
}

void WebClient::on_closed(Connection& connection, Instant now) {
  if (connection.number() != current_) return;  // connection of a page that was complete
  ++log_.failures;
  end_page(connection, now);
}

}  // namespace sluice::emulator
