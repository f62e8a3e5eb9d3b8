#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/connection.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/request.hpp"

namespace sluice::emulator {

/// Counters of all sessions of a server.
struct ServerCounters {
  std::map<FlowEnds, EndRecord> ends;  ///< TCP statistics at the server's end of each connection
  std::uint64_t sessions = 0;
  std::uint64_t requests = 0;
  std::uint64_t sent = 0;       ///< payload bytes written
  std::uint64_t received = 0;   ///< payload bytes received
  std::uint64_t corrupted = 0;  ///< pieces of payload that did not match the expected pattern
  std::uint64_t refused = 0;    ///< sessions aborted for an invalid request

  /// Records the TCP statistics at the server's end of a connection.
  void record_end(const Connection& connection);
};

/// Server end of one connection with requests. It sends the bytes that a client requests by Request::Verb::fetch, and
/// checks the bytes that a client sends after Request::Verb::put. Fetches are answered in order, and a client may send
/// the next fetch before the previous one is complete.
class PatternServer final : public Application {
 public:
  /// Makes the application of one connection. `counters` must outlive it.
  PatternServer(const packet::Addresses& ours, ServerCounters& counters)
      : outgoing_(server_pattern(ours.src_port, ours.dst_port)),
        incoming_(client_pattern(ours.src_port, ours.dst_port)),
        counters_(counters) {
    ++counters_.sessions;
  }

  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_room(Connection& connection, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override { on_run_end(connection, now); }
  void on_run_end(Connection& connection, Instant now) override;

 private:
  static constexpr std::size_t max_waiting = 1024;

  std::size_t take_request(Connection& connection, std::span<const std::uint8_t> bytes);
  void begin(Connection& connection, const Request& request);
  std::size_t take_put(Connection& connection, std::span<const std::uint8_t> bytes);

  PayloadPattern outgoing_;
  PayloadPattern incoming_;
  ServerCounters& counters_;
  std::array<std::uint8_t, Request::length> head_{};
  std::size_t head_size_ = 0;
  std::deque<std::uint64_t> fetches_;  ///< unsent bytes of each fetch that is not answered completely
  std::uint64_t put_left_ = 0;
  std::uint64_t put_size_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  bool refused_ = false;
  bool peer_finished_ = false;
};

}  // namespace sluice::emulator
