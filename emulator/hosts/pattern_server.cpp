// Server side of the built-in requests: sends the bytes that are fetched and checks the bytes that are put.
// BuiltInServers creates one PatternServer per connection to port 80. Input that is no valid request aborts the
// connection; at most `max_waiting` fetches may be outstanding.

#include "emulator/hosts/pattern_server.hpp"

#include <algorithm>

namespace sluice::emulator {

void ServerCounters::record_end(const Connection& connection) {
  const packet::Addresses& ours = connection.addresses();
  const tcp::Endpoint& endpoint = connection.endpoint();
  ends[{ours.dst, ours.src, ours.dst_port, ours.src_port}] = {endpoint.counters().retransmitted,
                                                              endpoint.counters().timeouts, endpoint.srtt()};
}

void PatternServer::on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant /*now*/) {
  while (!bytes.empty() && !refused_) {
    bytes = bytes.subspan(put_left_ > 0 ? take_put(connection, bytes) : take_request(connection, bytes));
  }
}

std::size_t PatternServer::take_request(Connection& connection, std::span<const std::uint8_t> bytes) {
  const std::size_t count = std::min(bytes.size(), head_.size() - head_size_);
  std::copy_n(bytes.begin(), count, head_.begin() + static_cast<std::ptrdiff_t>(head_size_));
  head_size_ += count;
  if (head_size_ < head_.size()) return count;
  head_size_ = 0;
  const std::optional<Request> request = Request::decode(head_);
  if (!request || fetches_.size() >= max_waiting) {
    refused_ = true;
    ++counters_.refused;
    connection.abort();
  } else {
    begin(connection, *request);
  }
  return count;
}

void PatternServer::begin(Connection& connection, const Request& request) {
  ++counters_.requests;
  if (request.verb == Request::Verb::fetch) {
    if (request.size > 0) fetches_.push_back(request.size);
    return;
  }
  put_size_ = put_left_ = request.size;
  if (put_left_ == 0) connection.send(request.encode());
}

std::size_t PatternServer::take_put(Connection& connection, std::span<const std::uint8_t> bytes) {
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), put_left_));
  if (!incoming_.matches(received_, bytes.first(count))) ++counters_.corrupted;
  received_ += count;
  counters_.received += count;
  put_left_ -= count;
  if (put_left_ == 0) connection.send(Request{Request::Verb::put, put_size_}.encode());
  return count;
}

void PatternServer::on_room(Connection& connection, Instant /*now*/) {
  while (!fetches_.empty()) {
    const auto room = static_cast<std::uint64_t>(connection.send_room().count());
    const std::uint64_t wanted = std::min(room, fetches_.front());
    const std::uint64_t done = wanted > 0 ? connection.send_pattern(outgoing_, sent_, wanted) : 0;
    sent_ += done;
    counters_.sent += done;
    if (fetches_.front() != Request::endless) fetches_.front() -= done;
    if (fetches_.front() == 0) fetches_.pop_front();
    if (done == 0) return;
  }
  if (peer_finished_) connection.finish();
}

void PatternServer::on_run_end(Connection& connection, Instant /*now*/) {
  counters_.record_end(connection);
}

void PatternServer::on_peer_finished(Connection& connection, Instant /*now*/) {
  peer_finished_ = true;
  // An endless fetch ends with its client; finite ones are sent to their end first.
  if (!fetches_.empty() && fetches_.front() == Request::endless) fetches_.clear();
  if (fetches_.empty()) connection.finish();
}

}  // namespace sluice::emulator
