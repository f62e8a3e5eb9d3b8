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

/// What all sessions of a server came to.
struct ServerCounters {
  std::map<FlowEnds, EndRecord> ends;  ///< what TCP did at the server's end of each
  std::uint64_t sessions = 0;
  std::uint64_t requests = 0;
  std::uint64_t sent = 0;       ///< bytes of pattern written
  std::uint64_t received = 0;   ///< bytes of pattern taken
  std::uint64_t corrupted = 0;  ///< pieces that were not what they should have been
  std::uint64_t refused = 0;    ///< sessions aborted because what came was not a request

  /// Writes down what TCP did at the server's end of a connection.
  void note_end(const Connection& connection);
};

/// One connection of the server that answers requests: sends what is fetched, checks what is put. Fetches are answered
/// in order; a client may ask for the next before it has the last.
class PatternServer final : public Application {
 public:
  /// `counters` outlives it.
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
  std::deque<std::uint64_t> fetches_;  ///< bytes still to send of each
  std::uint64_t put_left_ = 0;
  std::uint64_t put_size_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  bool refused_ = false;
  bool peer_finished_ = false;
};

}  // namespace sluice::emulator
