// One long transfer of a built-in UE: a download or an upload on its own connection. BuiltInUes creates one per
// connection of a bulk application; FlowSource creates one per short flow. Invariant: each connection adds exactly one
// record to the flow log.

#include "emulator/hosts/bulk_client.hpp"

#include <algorithm>

namespace sluice::emulator {

BulkClient::BulkClient(EventLoop& loop, Host& host, const BulkConfig& config, FlowLog& log)
    : host_(host), config_(config), log_(log) {
  record_.application = config.name;
  record_.upload = config.upload;
  loop.at(config.start, *this, start_tag);
  if (config.stop != never) loop.at(config.stop, *this, stop_tag);
}

void BulkClient::on_event(std::uint64_t tag, Instant now) {
  if (tag == stop_tag) return stop(now);
  record_.opened = now;
  record_.set_ends(host_.connect(config_.server, config_.port, *this, now).addresses());
}

/// Aborts the transfer with a reset, because data in flight must not be sent any more.
void BulkClient::stop(Instant now) {
  if (connection_ == nullptr || complete_) return;
  complete_ = true;
  record_.finished = now;
  connection_->abort();
  host_.push(connection_->number(), now);
}

void BulkClient::on_open(Connection& connection, Instant now) {
  connection_ = &connection;
  record_.connected = now;
  const packet::Addresses& addresses = connection.addresses();
  pattern_ = config_.upload ? client_pattern(addresses.dst_port, addresses.src_port)
                            : server_pattern(addresses.dst_port, addresses.src_port);
  const Request request{config_.upload ? Request::Verb::put : Request::Verb::fetch, config_.size};
  connection.send(request.encode());
}

void BulkClient::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) {
  if (config_.upload) {
    answered_ += bytes.size();
    complete_ = answered_ == Request::length && transferred_ == config_.size;
  } else {
    if (!pattern_->matches(transferred_, bytes)) {
      ++record_.corrupted;
      ++log_.corrupted;
    }
    transferred_ += bytes.size();
    if (now < log_.count_from) {
      before_ = transferred_;
    } else {
      record_.spread.add(bytes.size(), now);
    }
    complete_ = transferred_ == config_.size;
  }
  if (!complete_) return;
  record_.finished = now;
  if (config_.is_fetch && record_.opened >= log_.count_from) {
    log_.fetch_times.add(now - record_.opened);
    ++log_.fetches;
  }
  connection.finish();
}

// Returns the bytes transferred so far, without those written but not acknowledged. The server's answer acknowledges
// all of them.
std::uint64_t BulkClient::moved(const Connection& connection) const {
  if (!config_.upload || answered_ == Request::length) return transferred_;
  const tcp::Endpoint& endpoint = connection.endpoint();
  const auto held = static_cast<std::uint64_t>((endpoint.unsent() + endpoint.unacknowledged()).count());
  return transferred_ - std::min(transferred_, held);
}

void BulkClient::on_room(Connection& connection, Instant now) {
  if (config_.upload && now < log_.count_from) before_ = moved(connection);
  if (!config_.upload || transferred_ == config_.size) return;
  const auto room = static_cast<std::uint64_t>(connection.send_room().count());
  transferred_ += connection.send_pattern(*pattern_, transferred_, std::min(room, config_.size - transferred_));
}

void BulkClient::on_peer_finished(Connection& connection, Instant /*now*/) {
  connection.finish();
}

void BulkClient::on_closed(Connection& connection, Instant now) {
  connection_ = nullptr;
  if (!complete_) ++log_.failures;
  add_record(connection, now);
  closed_ = true;
}

void BulkClient::on_run_end(Connection& connection, Instant now) {
  add_record(connection, now);
}

void BulkClient::add_record(const Connection& connection, Instant now) {
  if (record_.finished == never) record_.finished = now;
  record_.bytes = moved(connection);
  record_.measured = record_.bytes - std::min(record_.bytes, before_);
  record_.take_counters(connection.endpoint());
  log_.flows.push_back(record_);
}

}  // namespace sluice::emulator
