#include "emulator/runtime/feedback_wire.hpp"

#include <utility>

namespace sluice::emulator {
namespace {

namespace feedback = control::feedback;

constexpr std::uint32_t key_id = 1;

feedback::SessionConfig session(feedback::Role role) {
  feedback::SessionConfig config;
  config.role = role;
  config.sender = role == feedback::Role::node_b ? 1 : 2;
  config.epoch = 1;
  config.keys = {{key_id, std::vector<std::uint8_t>(32, 0x5c)}};
  config.send_key = key_id;
  return config;
}

/// Gathers what one datagram brings.
class Collector final : public feedback::RecordHandler {
 public:
  std::vector<proxy::ReportArrival> reports;
  std::vector<feedback::BearerStatus> statuses;
  bool poll = false;

  Collector() { reports.reserve(16); }
  void on_report(const feedback::Header& header, const feedback::BearerReport& report) override {
    poll = poll || header.poll;
    reports.push_back({report, header.sender, header.epoch, header.sequence, header.sender_time, header.period});
  }
  void on_status(const feedback::Header&, const feedback::BearerStatus& status) override { statuses.push_back(status); }
};

}  // namespace

void DatagramLine::send(std::span<const std::uint8_t> datagram) {
  ++sent_;
  if (random_.chance(loss_)) {
    ++lost_;
    return;
  }
  std::vector<std::uint8_t> copy;
  if (!spare_.empty()) {
    copy = std::move(spare_.back());
    spare_.pop_back();
  }
  copy.assign(datagram.begin(), datagram.end());
  under_way_.push_back(std::move(copy));
  loop_.at(loop_.now() + delay_, *this);
}

void DatagramLine::on_event(std::uint64_t /*tag*/, Instant now) {
  std::vector<std::uint8_t> datagram = std::move(under_way_.front());
  under_way_.pop_front();
  deliver_(datagram, now);
  spare_.push_back(std::move(datagram));
}

FeedbackWire::FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter)
    : loop_(loop),
      config_(config),
      proxy_(proxy),
      meter_(meter),
      nodeb_(session(feedback::Role::node_b)),
      proxy_session_(session(feedback::Role::proxy)),
      down_(loop, config.delay, config.loss, Random::stream(seed, "reports"),
            [this](std::span<const std::uint8_t> datagram, Instant now) { at_proxy(datagram, now); }),
      up_(loop, config.delay, config.loss, Random::stream(seed, "statuses"),
          [this](std::span<const std::uint8_t> datagram, Instant now) { at_nodeb(datagram, now); }) {}

void FeedbackWire::start(Instant now) {
  loop_.at(now + config_.period, *this);
}

void FeedbackWire::send(std::span<const feedback::BearerReport> reports, Instant now) {
  meter_.reported(reports);
  nodeb_.send_reports(reports, now.time_since_epoch(), config_.period, false, down_);
}

void FeedbackWire::on_event(std::uint64_t /*tag*/, Instant now) {
  send_statuses(now, false);
  loop_.at(now + config_.period, *this);
}

void FeedbackWire::at_proxy(std::span<const std::uint8_t> datagram, Instant now) {
  Collector collector;
  if (proxy_session_.receive(datagram, collector) != feedback::Failure::none) {
    ++refused_;
    return;
  }
  proxy_.on_reports(collector.reports, now);
  send_statuses(now, collector.poll);
}

void FeedbackWire::at_nodeb(std::span<const std::uint8_t> datagram, Instant now) {
  Collector collector;
  if (nodeb_.receive(datagram, collector) != feedback::Failure::none) {
    ++refused_;
    return;
  }
  for (const feedback::BearerStatus& status : collector.statuses) reporter_->on_status(status, now);
}

void FeedbackWire::send_statuses(Instant now, bool all) {
  statuses_.clear();
  proxy_.collect_status(statuses_, all);
  if (statuses_.empty()) return;
  proxy_session_.send_statuses(statuses_, now.time_since_epoch(), config_.period, false, up_);
}

}  // namespace sluice::emulator
