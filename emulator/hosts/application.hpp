#pragma once

#include <cstdint>
#include <span>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

class Connection;

/// What a built-in host does with a connection. Everything a call writes is sent when it returns.
class Application {
 public:
  virtual ~Application() = default;
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// The handshake is complete.
  virtual void on_open(Connection& /*connection*/, Instant /*now*/) {}
  /// The next bytes of the stream; valid during the call.
  virtual void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) = 0;
  /// The connection was served and may have room to send (Connection::send_room).
  virtual void on_room(Connection& /*connection*/, Instant /*now*/) {}
  /// The peer sends no more.
  virtual void on_peer_finished(Connection& /*connection*/, Instant /*now*/) {}
  /// The connection is no more; why: Connection::endpoint().close_reason(). The last call.
  virtual void on_closed(Connection& /*connection*/, Instant /*now*/) {}
  /// The run is over and the connection still there: the last chance to write down what became of it.
  virtual void on_run_end(Connection& /*connection*/, Instant /*now*/) {}
};

}  // namespace sluice::emulator
