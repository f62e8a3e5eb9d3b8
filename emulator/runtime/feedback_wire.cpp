#include "emulator/runtime/feedback_wire.hpp"

#include "control/feedback/codec.hpp"

namespace sluice::emulator {
namespace {

namespace feedback = control::feedback;

constexpr std::uint64_t proxy_sender = 2;
constexpr std::uint64_t epoch = 1;

/// Calls send(records) for those of one datagram after the other; once without any when there are none.
template <typename Record, typename Send>
void in_datagrams(std::span<const Record> records, Send&& send) {
  do {
    const std::size_t count = feedback::fitting(records, feedback::default_max_datagram);
    send(records.first(count));
    records = records.subspan(count);
  } while (!records.empty());
}

}  // namespace

/// A Node-B's end, and the lines from and to it.
class FeedbackWire::Link final : public ReportSink {
 public:
  Link(FeedbackWire& wire, std::uint32_t nodeb, std::uint64_t seed)
      : wire_(wire),
        sender_(sender_of(nodeb)),
        down_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "reports", nodeb),
              [&wire](std::span<proxy::ReportArrival> reports, Instant now) { wire.at_proxy(reports, now); }),
        up_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "statuses", nodeb),
            [this](std::span<const feedback::BearerStatus> statuses, Instant now) {
              for (const feedback::BearerStatus& status : statuses) reporter_->on_status(status, now);
            }) {}

  void set_reporter(Reporter& reporter) { reporter_ = &reporter; }
  [[nodiscard]] std::uint64_t next_sequence() const override { return sequence_ + 1; }
  void send(std::span<const feedback::BearerReport> reports, Instant now) override {
    wire_.meter_.reported(reports);
    in_datagrams(reports, [&](std::span<const feedback::BearerReport> some) {
      ++sequence_;
      arrivals_.clear();
      for (const feedback::BearerReport& report : some) {
        arrivals_.push_back(
            {feedback::as_received(report), sender_, epoch, sequence_, now.time_since_epoch(), wire_.config_.period});
      }
      down_.send(arrivals_);
    });
  }
  [[nodiscard]] RecordLine<feedback::BearerStatus>& up() { return up_; }
  [[nodiscard]] std::uint64_t lost() const { return down_.lost() + up_.lost(); }

 private:
  FeedbackWire& wire_;
  std::uint64_t sender_;
  std::uint64_t sequence_ = 0;
  RecordLine<proxy::ReportArrival> down_;  ///< to the proxy
  RecordLine<feedback::BearerStatus> up_;
  std::vector<proxy::ReportArrival> arrivals_;  ///< that are being sent
  Reporter* reporter_ = nullptr;
};

FeedbackWire::FeedbackWire(EventLoop& loop, const Config& config, std::uint64_t seed, ProxyNode& proxy, Meter& meter)
    : loop_(loop), config_(config), proxy_(proxy), meter_(meter) {
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
  send_statuses();
  loop_.at(now + config_.period, *this);
}

void FeedbackWire::at_proxy(std::span<proxy::ReportArrival> reports, Instant now) {
  proxy_.on_reports(reports, now);
  send_statuses();
}

void FeedbackWire::send_statuses() {
  statuses_.clear();
  proxy_.collect_status(statuses_, false);
  if (statuses_.empty()) return;
  for (feedback::BearerStatus& status : statuses_) status = feedback::as_received(status);
  in_datagrams(std::span<const feedback::BearerStatus>(statuses_),
               [this](std::span<const feedback::BearerStatus> some) {
                 for (const auto& link : links_) link->up().send(some);
               });
}

}  // namespace sluice::emulator
