#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "control/feedback/report.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"
#include "emulator/runtime/meter.hpp"
#include "emulator/runtime/proxy_node.hpp"

namespace sluice::emulator {

/// One direction of the feedback between Node-B and proxy, with constant delay and random loss of whole datagrams.
/// `Head` is the type of a datagram's header, which precedes the records.
template <typename Record, typename Head>
class RecordLine final : public EventTarget {
 public:
  using Deliver = std::function<void(const Head&, std::span<Record>, Instant)>;
  /// Makes a line with the one-way delay `delay` and the loss probability `loss` (0 … 1) of a datagram. The line calls
  /// `deliver` for each arrival. `loop` must outlive it.
  RecordLine(EventLoop& loop, Duration delay, double loss, Random random, Deliver deliver)
      : loop_(loop), delay_(delay), loss_(loss), random_(random), deliver_(std::move(deliver)) {}

  /// Sends the records of one datagram. The datagram may be lost, which is decided at random.
  void send(std::span<const Record> records, const Head& head) {
    if (random_.chance(loss_)) {
      ++lost_;
      return;
    }
    std::vector<Record> copy;
    if (!spare_.empty()) {
      copy = std::move(spare_.back());
      spare_.pop_back();
    }
    copy.assign(records.begin(), records.end());
    in_flight_.push_back({head, std::move(copy)});
    loop_.at(loop_.now() + delay_, *this);
  }
  void on_event(std::uint64_t /*tag*/, Instant now) override {
    Datagram datagram = std::move(in_flight_.front());
    in_flight_.pop_front();
    deliver_(datagram.head, datagram.records, now);
    spare_.push_back(std::move(datagram.records));
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Datagram {
    Head head;
    std::vector<Record> records;
  };
  EventLoop& loop_;
  Duration delay_;
  double loss_;
  Random random_;
  Deliver deliver_;
  std::deque<Datagram> in_flight_;
  std::vector<std::vector<Record>> spare_;  ///< buffers of delivered datagrams' records, kept for reuse
  std::uint64_t lost_ = 0;
};

/// Feedback between Node-Bs and proxy in virtual time, with a separate line in each direction. Records are passed
/// unencoded, in groups of one datagram. Their values are those that the receiver would decode (feedback::fitting(),
/// as_received()). Encoding and signing are left out because they would take a third of a run's time and not change its
/// result. The proxy answers each datagram of reports with its status messages. Once per report period it also sends
/// its status messages to all Node-Bs, as it does over UDP.
class FeedbackWire final : public EventTarget {
 public:
  struct Config {
    Duration period{};  ///< Ts, the report period
    Duration delay{};   ///< one-way delay
    double loss = 0;
    std::uint32_t nodebs = 1;
  };
  /// Creates the lines between the proxy and all Node-Bs. All arguments must outlive this object. Call set_reporter()
  /// for every Node-B before start().
  FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter);
  ~FeedbackWire();

  /// Returns the sender id of a Node-B.
  [[nodiscard]] static std::uint64_t sender_of(std::uint32_t nodeb);
  /// Returns the sink for the reports of a Node-B.
  [[nodiscard]] ReportSink& sink(std::uint32_t nodeb);
  /// Sets the reporter that receives the status messages sent to Node-B `nodeb`.
  void set_reporter(std::uint32_t nodeb, Reporter& reporter);
  /// Starts the periodic status messages of the proxy.
  void start(Instant now);
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the number of datagrams lost, in both directions.
  [[nodiscard]] std::uint64_t datagrams_lost() const;

 private:
  class Link;
  void at_proxy(std::span<proxy::ReportArrival> reports, Instant now);
  void send_statuses();

  EventLoop& loop_;
  Config config_;
  ProxyNode& proxy_;
  Meter& meter_;
  /// Lines between each Node-B and the proxy, by Node-B number.
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<control::feedback::BearerStatus> statuses_;  ///< status messages being sent
};

}  // namespace sluice::emulator
