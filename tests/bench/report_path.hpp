#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/shard/shard.hpp"

namespace sluice::bench {

/// Returns the processor cycles of this thread, so that other threads do not count.
inline std::uint64_t cycles_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  const double seconds = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  return static_cast<std::uint64_t>(seconds * static_cast<double>(rte_get_tsc_hz()));
}

/// The way of reports from the Node-B's session to the shard, as one thread: what it sends, and what is made of it.
class ReportPath final : public control::feedback::RecordHandler, public control::feedback::DatagramSink {
 public:
  ReportPath(proxy::Shard& shard, std::size_t datagram)
      : shard_(shard), node_b_(side(1, datagram)), proxy_(side(2, 0)) {
    node_b_.set_limit(datagram);
  }
  /// A period's reports.
  void period(std::span<const control::feedback::BearerReport> reports, Duration refresh, Instant now) {
    datagrams_.clear();
    node_b_.send_reports(reports, now.time_since_epoch(), std::chrono::milliseconds(5), false, *this, refresh);
    const std::uint64_t before = cycles_of_this_thread();
    for (const auto& datagram : datagrams_) {
      arrivals_.clear();
      static_cast<void>(proxy_.receive(datagram, *this, {now, 1}));
      const std::uint64_t begun = cycles_of_this_thread();
      for (std::span<proxy::ReportArrival> left = arrivals_; !left.empty();) {
        const std::size_t some = std::min<std::size_t>(left.size(), 64);
        shard_.on_reports(left.first(some), now);
        left = left.subspan(some);
      }
      in_shard += cycles_of_this_thread() - begun;
    }
    received += cycles_of_this_thread() - before;
  }
  void send(std::span<const std::uint8_t> datagram) override {
    octets += datagram.size();
    datagrams_.emplace_back(datagram.begin(), datagram.end());
  }
  void on_message(const control::feedback::Header& header) override {
    if (header.refresh == Duration::zero()) return;
    const proxy::OmissionNotice notice{header.sender,      header.epoch,  header.sequence, 1,
                                       header.sender_time, header.period, header.refresh};
    shard_.on_omissions({&notice, 1}, Instant(header.sender_time));
  }
  void on_report(const control::feedback::Header& header, const control::feedback::BearerReport& report) override {
    arrivals_.push_back({.bearer = report,
                         .sender = header.sender,
                         .epoch = header.epoch,
                         .sequence = header.sequence,
                         .sender_time = header.sender_time,
                         .period = header.period});
  }
  void on_status(const control::feedback::Header&, const control::feedback::BearerStatus&) override {}

  std::uint64_t octets = 0;
  std::uint64_t received = 0;  ///< cycles of all of it
  std::uint64_t in_shard = 0;  ///< cycles spent in the shard
 private:
  static control::feedback::SessionConfig side(std::uint64_t sender, std::size_t datagram) {
    control::feedback::SessionConfig config;
    config.role = sender == 1 ? control::feedback::Role::node_b : control::feedback::Role::proxy;
    config.keys = {{1, std::vector<std::uint8_t>(32, 0x42), control::feedback::TagAlgorithm::aes_256_gmac}};
    config.send_key = 1;
    config.session_id.fill(static_cast<std::uint8_t>(sender));
    config.sender = sender;
    config.max_datagram = std::max(datagram, control::feedback::default_max_datagram);
    return config;
  }
  proxy::Shard& shard_;
  control::feedback::Session node_b_;
  control::feedback::Session proxy_;
  std::vector<std::vector<std::uint8_t>> datagrams_;
  std::vector<proxy::ReportArrival> arrivals_;
};

}  // namespace sluice::bench
