#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/request.hpp"

namespace sluice::emulator {

struct BulkConfig {
  IpAddress server;
  std::uint16_t port = 80;
  bool upload = false;
  std::uint64_t size = Request::endless;  ///< number of bytes to transfer
  Instant start{};
  Instant stop = never;       ///< time at which the transfer is aborted
  std::string name = "bulk";  ///< application name in the results
  bool is_fetch = false;      ///< true if the time from SYN to last byte is recorded as a fetch
};

/// One long transfer: downloads or uploads a number of bytes and closes. Checks every byte it receives.
class BulkClient final : public Application, public EventTarget {
 public:
  /// Creates a client that opens its connection at `config.start`. `loop`, `host` and `log` must outlive it.
  BulkClient(EventLoop& loop, Host& host, const BulkConfig& config, FlowLog& log);

  void on_event(std::uint64_t tag, Instant now) override;
  void on_open(Connection& connection, Instant now) override;
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_room(Connection& connection, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override;
  void on_run_end(Connection& connection, Instant now) override;

  [[nodiscard]] bool complete() const { return complete_; }
  /// True if the connection is closed.
  [[nodiscard]] bool closed() const { return closed_; }
  /// Returns the bytes received (download) or written (upload) so far.
  [[nodiscard]] std::uint64_t transferred() const { return transferred_; }
  [[nodiscard]] std::uint64_t corrupted() const { return record_.corrupted; }

 private:
  static constexpr std::uint64_t start_tag = 0;
  static constexpr std::uint64_t stop_tag = 1;
  void stop(Instant now);
  /// Returns the bytes received (download) or acknowledged (upload) so far.
  [[nodiscard]] std::uint64_t moved(const Connection& connection) const;
  /// Adds the record of the connection to the flow log when the connection or the run ends.
  void add_record(const Connection& connection, Instant now);

  Host& host_;
  BulkConfig config_;
  FlowLog& log_;
  FlowRecord record_;
  Connection* connection_ = nullptr;  ///< null if not open
  std::optional<PayloadPattern> pattern_;
  std::uint64_t transferred_ = 0;
  /// Bytes transferred before the measurement began, which do not count in the measured throughput.
  std::uint64_t before_ = 0;
  std::uint64_t answered_ = 0;
  bool complete_ = false;
  bool closed_ = false;
};

}  // namespace sluice::emulator
