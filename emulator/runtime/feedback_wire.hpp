#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"
#include "emulator/runtime/meter.hpp"
#include "emulator/runtime/proxy_node.hpp"

namespace sluice::emulator {

/// One direction of the datagrams' way: constant delay, random loss.
class DatagramLine final : public control::feedback::DatagramSink, public EventTarget {
 public:
  using Deliver = std::function<void(std::span<const std::uint8_t>, Instant)>;
  /// `loop` outlives it. `loss`: 0 … 1.
  DatagramLine(EventLoop& loop, Duration delay, double loss, Random random, Deliver deliver)
      : loop_(loop), delay_(delay), loss_(loss), random_(random), deliver_(std::move(deliver)) {}

  void send(std::span<const std::uint8_t> datagram) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  EventLoop& loop_;
  Duration delay_;
  double loss_;
  Random random_;
  Deliver deliver_;
  std::deque<std::vector<std::uint8_t>> under_way_;
  std::vector<std::vector<std::uint8_t>> spare_;  ///< buffers of datagrams that have arrived
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
};

/// The feedback between Node-B and proxy in virtual time: real datagrams, signed, checked and decoded by the protocol's
/// own sessions, over a line each way. The proxy answers each report with its statuses, and sends them every period.
class FeedbackWire final : public ReportSink, public EventTarget {
 public:
  struct Config {
    Duration period{};  ///< Ts
    Duration delay{};   ///< one way
    double loss = 0;
  };
  /// Everything outlives it; set_reporter() before start().
  FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter);

  void set_reporter(Reporter& reporter) { reporter_ = &reporter; }
  void start(Instant now);

  [[nodiscard]] std::uint64_t next_sequence() const override { return nodeb_.next_sequence(); }
  void send(std::span<const control::feedback::BearerReport> reports, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::uint64_t datagrams_lost() const { return down_.lost() + up_.lost(); }
  /// Datagrams that a session refused; 0 unless something is wrong.
  [[nodiscard]] std::uint64_t datagrams_refused() const { return refused_; }

 private:
  void at_proxy(std::span<const std::uint8_t> datagram, Instant now);
  void at_nodeb(std::span<const std::uint8_t> datagram, Instant now);
  void send_statuses(Instant now, bool all);

  EventLoop& loop_;
  Config config_;
  ProxyNode& proxy_;
  Meter& meter_;
  Reporter* reporter_ = nullptr;
  control::feedback::Session nodeb_;
  control::feedback::Session proxy_session_;
  DatagramLine down_;  ///< Node-B to proxy
  DatagramLine up_;
  std::vector<control::feedback::BearerStatus> statuses_;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::emulator
