#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
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

/// The feedback between Node-Bs and proxy in virtual time: real datagrams, signed, checked and decoded by the
/// protocol's own sessions, one at the proxy and one at each Node-B, over lines of their own each way. The proxy
/// answers each report with its statuses, and sends them every period; as over UDP, to all Node-Bs alike.
class FeedbackWire final : public EventTarget, private control::feedback::DatagramSink {
 public:
  struct Config {
    Duration period{};  ///< Ts
    Duration delay{};   ///< one way
    double loss = 0;
    std::uint32_t nodebs = 1;
  };
  /// Everything outlives it; set_reporter() of every Node-B before start().
  FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter);
  ~FeedbackWire();

  /// The id of a Node-B as a sender.
  [[nodiscard]] static std::uint64_t sender_of(std::uint32_t nodeb);
  /// Where the reports of a Node-B go.
  [[nodiscard]] ReportSink& sink(std::uint32_t nodeb);
  /// Who hears what the proxy says to that Node-B.
  void set_reporter(std::uint32_t nodeb, Reporter& reporter);
  void start(Instant now);
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] std::uint64_t datagrams_lost() const;
  /// Datagrams that a session refused; 0 unless something is wrong.
  [[nodiscard]] std::uint64_t datagrams_refused() const { return refused_; }

 private:
  class Link;
  void at_proxy(std::span<const std::uint8_t> datagram, Instant now);
  void send_statuses(Instant now, bool all);
  void send(std::span<const std::uint8_t> datagram) override;

  EventLoop& loop_;
  Config config_;
  ProxyNode& proxy_;
  Meter& meter_;
  control::feedback::Session proxy_session_;
  std::vector<std::unique_ptr<Link>> links_;  ///< by Node-B
  // These are of the datagram in hand.
  std::vector<proxy::ReportArrival> reports_;
  std::vector<control::feedback::BearerStatus> statuses_;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::emulator
