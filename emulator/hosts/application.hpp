#pragma once

#include <cstdint>
#include <span>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

class Connection;

/// Application on a connection of a built-in host. Bytes that a callback writes to the connection are sent when the
/// callback returns.
class Application {
 public:
  virtual ~Application() = default;
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// Called when the handshake is complete.
  virtual void on_open(Connection& /*connection*/, Instant /*now*/) {}
  /// Called with the next received bytes of the stream, which are valid during the call.
  virtual void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) = 0;
  /// Called when the application may write bytes again (Connection::send_room).
  virtual void on_room(Connection& /*connection*/, Instant /*now*/) {}
  /// Called when the peer's FIN is received.
  virtual void on_peer_finished(Connection& /*connection*/, Instant /*now*/) {}
  /// Called when the connection is closed; no other function is called after it. Connection::endpoint().close_reason()
  /// is the cause.
  virtual void on_closed(Connection& /*connection*/, Instant /*now*/) {}
  /// Called at the end of the run if the connection is still open, to record its state.
  virtual void on_run_end(Connection& /*connection*/, Instant /*now*/) {}
};

}  // namespace sluice::emulator
