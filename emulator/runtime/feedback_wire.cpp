#include "emulator/runtime/feedback_wire.hpp"

#include <utility>

namespace sluice::emulator {
namespace {

namespace feedback = control::feedback;

constexpr std::uint32_t key_id = 1;

constexpr std::uint64_t proxy_sender = 2;

feedback::SessionConfig session(feedback::Role role, std::uint64_t sender) {
  feedback::SessionConfig config;
  config.role = role;
  config.sender = sender;
  config.epoch = 1;
  config.keys = {{key_id, std::vector<std::uint8_t>(32, 0x5c)}};
  config.send_key = key_id;
  return config;
}

/// Gathers the reports that one datagram brings.
class Reports final : public feedback::RecordHandler {
 public:
  explicit Reports(std::vector<proxy::ReportArrival>& into) : into_(into) { into_.clear(); }
  void on_message(const feedback::Header& header) override { poll_ = header.poll; }
  void on_report(const feedback::Header& header, const feedback::BearerReport& report) override {
    into_.push_back({report, header.sender, header.epoch, header.sequence, header.sender_time, header.period});
  }
  void on_status(const feedback::Header&, const feedback::BearerStatus&) override {}
  [[nodiscard]] bool poll() const { return poll_; }

 private:
  std::vector<proxy::ReportArrival>& into_;
  bool poll_ = false;
};

/// Tells a Node-B what one datagram says of its UEs.
class Statuses final : public feedback::RecordHandler {
 public:
  Statuses(Reporter& reporter, Instant now) : reporter_(reporter), now_(now) {}
  void on_message(const feedback::Header& header) override { poll_ = header.poll; }
  void on_report(const feedback::Header&, const feedback::BearerReport&) override {}
  void on_status(const feedback::Header&, const feedback::BearerStatus& status) override {
    reporter_.on_status(status, now_);
  }
  [[nodiscard]] bool poll() const { return poll_; }

 private:
  Reporter& reporter_;
  Instant now_;
  bool poll_ = false;
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

/// A Node-B's end, and the lines from and to it.
class FeedbackWire::Link final : public ReportSink {
 public:
  Link(FeedbackWire& wire, std::uint32_t nodeb, std::uint64_t seed)
      : wire_(wire),
        session_(session(feedback::Role::node_b, sender_of(nodeb))),
        down_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "reports", nodeb),
              [&wire](std::span<const std::uint8_t> datagram, Instant now) { wire.at_proxy(datagram, now); }),
        up_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "statuses", nodeb),
            [this](std::span<const std::uint8_t> datagram, Instant now) { at_nodeb(datagram, now); }) {}

  void set_reporter(Reporter& reporter) { reporter_ = &reporter; }
  [[nodiscard]] std::uint64_t next_sequence() const override { return session_.next_sequence(); }
  void send(std::span<const feedback::BearerReport> reports, Instant now) override {
    wire_.meter_.reported(reports);
    session_.send_reports(reports, now.time_since_epoch(), wire_.config_.period, false, down_);
  }
  [[nodiscard]] DatagramLine& up() { return up_; }
  [[nodiscard]] std::uint64_t lost() const { return down_.lost() + up_.lost(); }

 private:
  void at_nodeb(std::span<const std::uint8_t> datagram, Instant now) {
    Statuses statuses(*reporter_, now);
    if (session_.receive(datagram, statuses, {now}) != feedback::Failure::none) {
      ++wire_.refused_;
    } else if (statuses.poll()) {
      reporter_->on_poll(now);
    }
  }

  FeedbackWire& wire_;
  feedback::Session session_;
  DatagramLine down_;  ///< to the proxy
  DatagramLine up_;
  Reporter* reporter_ = nullptr;
};

FeedbackWire::FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter)
    : loop_(loop),
      config_(config),
      proxy_(proxy),
      meter_(meter),
      proxy_session_(session(feedback::Role::proxy, proxy_sender)) {
  for (std::uint32_t i = 0; i < config.nodebs; ++i) links_.push_back(std::make_unique<Link>(*this, i, seed));
}

FeedbackWire::~FeedbackWire() = default;

std::uint64_t FeedbackWire::sender_of(std::uint32_t nodeb) {
  return nodeb == 0 ? 1 : proxy_sender + nodeb;
}

ReportSink& FeedbackWire::sink(std::uint32_t nodeb) {
  return *links_[nodeb];
}

void FeedbackWire::set_reporter(std::uint32_t nodeb, Reporter& reporter) {
  links_[nodeb]->set_reporter(reporter);
}

std::uint64_t FeedbackWire::datagrams_lost() const {
  std::uint64_t lost = 0;
  for (const auto& link : links_) lost += link->lost();
  return lost;
}

void FeedbackWire::start(Instant now) {
  loop_.at(now + config_.period, *this);
}

void FeedbackWire::on_event(std::uint64_t /*tag*/, Instant now) {
  send_statuses(now, false);
  loop_.at(now + config_.period, *this);
}

void FeedbackWire::at_proxy(std::span<const std::uint8_t> datagram, Instant now) {
  Reports reports(reports_);
  if (proxy_session_.receive(datagram, reports, {now}) != feedback::Failure::none) {
    ++refused_;
    return;
  }
  proxy_.on_reports(reports_, now);
  send_statuses(now, reports.poll());
}

void FeedbackWire::send_statuses(Instant now, bool all) {
  statuses_.clear();
  proxy_.collect_status(statuses_, all);
  if (statuses_.empty() && !all) return;
  proxy_session_.send_statuses(statuses_, now.time_since_epoch(), config_.period, false, *this);
}

void FeedbackWire::send(std::span<const std::uint8_t> datagram) {
  for (const auto& link : links_) link->up().send(datagram);
}

}  // namespace sluice::emulator
