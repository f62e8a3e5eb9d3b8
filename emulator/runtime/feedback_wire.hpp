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

/// One direction of the records' way: constant delay, random loss of what would be a datagram. `Head`: what it says
/// besides its records.
template <typename Record, typename Head>
class RecordLine final : public EventTarget {
 public:
  using Deliver = std::function<void(const Head&, std::span<Record>, Instant)>;
  /// `loop` outlives it. `loss`: 0 … 1.
  RecordLine(EventLoop& loop, Duration delay, double loss, Random random, Deliver deliver)
      : loop_(loop), delay_(delay), loss_(loss), random_(random), deliver_(std::move(deliver)) {}

  /// The records of one datagram.
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
    under_way_.push_back({head, std::move(copy)});
    loop_.at(loop_.now() + delay_, *this);
  }
  void on_event(std::uint64_t /*tag*/, Instant now) override {
    Datagram datagram = std::move(under_way_.front());
    under_way_.pop_front();
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
  std::deque<Datagram> under_way_;
  std::vector<std::vector<Record>> spare_;  ///< buffers of what has arrived
  std::uint64_t lost_ = 0;
};

/// The feedback between Node-Bs and proxy in virtual time, over lines of their own each way. Records are handed over as
/// they are, in what would be datagrams, as their receiver would read them (feedback::fitting(), as_received()): to
/// encode, sign, verify and decode each of them took a third of a run, and nothing of it depends on the run. The
/// proxy answers each datagram of reports with its statuses, and sends them every period; as over UDP, to all Node-Bs
/// alike.
class FeedbackWire final : public EventTarget {
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

 private:
  class Link;
  void at_proxy(std::span<proxy::ReportArrival> reports, Instant now);
  void send_statuses();

  EventLoop& loop_;
  Config config_;
  ProxyNode& proxy_;
  Meter& meter_;
  std::vector<std::unique_ptr<Link>> links_;               ///< by Node-B
  std::vector<control::feedback::BearerStatus> statuses_;  ///< that are being sent
};

}  // namespace sluice::emulator
