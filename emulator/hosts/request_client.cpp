// Client with small requests on one lasting connection: request and response, telnet-like, or on/off. BuiltInUes
// creates one per application of these types. Invariant: at most one event for the next request is armed.

#include "emulator/hosts/request_client.hpp"

#include <algorithm>
#include <utility>

#include "emulator/hosts/request.hpp"

namespace sluice::emulator {
namespace {

constexpr Duration reconnect_after = std::chrono::seconds(1);
/// Largest number of outstanding requests; more are not sent. The server accepts 1024.
constexpr std::size_t max_asked = 512;

}  // namespace

RequestClient::RequestClient(EventLoop& loop, Host& host, RequestConfig config, Random random, FlowLog& log)
    : loop_(loop), host_(host), config_(std::move(config)), random_(random), log_(log) {
  loop_.at(config_.start, *this, connect_tag);
}

void RequestClient::on_event(std::uint64_t tag, Instant now) {
  if (tag == connect_tag) {
    record_ = {};
    record_.application = config_.name;
    record_.opened = now;
    record_.set_ends(host_.connect(config_.server, config_.port, *this, now).addresses());
    return;
  }
  armed_ = false;
  if (connection_ == nullptr) return;
  ask(now);
  // The request leaves when the host next serves the connection, so a timer asks the host for it.
  host_.push(connection_->number(), now);
}

void RequestClient::on_open(Connection& connection, Instant now) {
  connection_ = &connection;
  record_.connected = now;
  if (config_.on > Duration::zero()) on_until_ = now + from_seconds(random_.exponential(to_seconds(config_.on)));
  ask(now);
}

void RequestClient::ask(Instant now) {
  if (asked_.size() < max_asked) {
    const std::uint64_t size = config_.size.draw(random_);
    asked_.push_back({now, size});
    connection_->send(Request{Request::Verb::fetch, size}.encode());
  }
  if (config_.pace == RequestPace::clocked) set_next(now);
}

void RequestClient::set_next(Instant now) {
  if (armed_) return;
  Duration wait = config_.interval;
  if (config_.pace == RequestPace::after_answer) {
    wait = from_seconds(random_.exponential(to_seconds(config_.interval)));
  } else if (now + wait > on_until_) {
    wait = on_until_ - now + from_seconds(random_.exponential(to_seconds(config_.off)));
    on_until_ = now + wait + from_seconds(random_.exponential(to_seconds(config_.on)));
  }
  armed_ = true;
  loop_.at(now + wait, *this, ask_tag);
}

void RequestClient::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) {
  const packet::Addresses& addresses = connection.addresses();
  if (!server_pattern(addresses.dst_port, addresses.src_port).matches(record_.bytes, bytes)) {
    ++record_.corrupted;
    ++log_.corrupted;
  }
  record_.bytes += bytes.size();
  std::uint64_t left = bytes.size();
  while (left > 0 && !asked_.empty()) {
    Asked& first = asked_.front();
    const std::uint64_t part = std::min(left, first.left);
    first.left -= part;
    left -= part;
    if (first.left > 0) break;
    if (first.at >= log_.count_from) {
      log_.fetch_times.add(now - first.at);
      ++log_.fetches;
    }
    asked_.pop_front();
  }
  if (asked_.empty() && config_.pace == RequestPace::after_answer) set_next(now);
}

void RequestClient::on_peer_finished(Connection& connection, Instant /*now*/) {
  connection.finish();
}

void RequestClient::record(Connection& connection, Instant now) {
  record_.finished = now;
  record_.take_counters(connection.endpoint());
  log_.flows.push_back(record_);
}

void RequestClient::on_closed(Connection& connection, Instant now) {
  record(connection, now);
  ++log_.failures;  // the client never closes the connection itself
  connection_ = nullptr;
  asked_.clear();
  loop_.at(now + reconnect_after, *this, connect_tag);
}

void RequestClient::on_run_end(Connection& connection, Instant now) {
  record(connection, now);
  record_.finished = never;
}

}  // namespace sluice::emulator
