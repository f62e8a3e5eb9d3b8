// Feedback protocol between Node-Bs and proxy in virtual time: reports one way, statuses the other way. VirtualRun
// creates one FeedbackWire; Reporter sends through it and ProxyNode receives from it. Invariant: records are grouped,
// rounded and lost as in the datagrams that UDP would carry, but are not encoded.

#include "emulator/runtime/feedback_wire.hpp"

#include "control/feedback/codec.hpp"
#include "control/feedback/sequence_gap_tracker.hpp"

namespace sluice::emulator {
namespace {

namespace feedback = control::feedback;

constexpr std::uint64_t proxy_sender = 2;
constexpr std::uint64_t epoch = 1;

/// Divides `records` into datagrams with `room` bytes for records each, and calls send() with the records of each
/// datagram. If there are no records, send() is called once with none.
template <typename Record, typename Send>
void in_datagrams(std::span<const Record> records, std::size_t room, Send&& send) {
  do {
    const std::size_t count = feedback::fitting(records, room);
    send(records.first(count));
    records = records.subspan(count);
  } while (!records.empty());
}

}  // namespace

/// Connection between one Node-B and the proxy, with a line for reports and a line for status messages.
class FeedbackWire::Link final : public ReportSink {
 public:
  struct Nothing {};

  Link(FeedbackWire& wire, std::uint32_t nodeb, std::uint64_t seed)
      : wire_(wire),
        sender_(sender_of(nodeb)),
        down_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "reports", nodeb),
              [this](const Message& message, std::span<proxy::ReportArrival> reports, Instant now) {
                receive(message, now);
                wire_.at_proxy(reports, now);
              }),
        up_(wire.loop_, wire.config_.delay, wire.config_.loss, Random::stream(seed, "statuses", nodeb),
            [this](const Nothing&, std::span<const feedback::BearerStatus> statuses, Instant now) {
              for (const feedback::BearerStatus& status : statuses) reporter_->on_status(status, now);
            }) {}

  void set_reporter(Reporter& reporter) { reporter_ = &reporter; }
  [[nodiscard]] std::uint64_t next_sequence() const override { return sequence_ + 1; }
  void send(std::span<const feedback::BearerReport> reports, Instant now) override { send_changes(reports, {}, now); }
  [[nodiscard]] bool may_leave_out() const override { return true; }
  void send_changes(std::span<const feedback::BearerReport> reports, Duration refresh, Instant now) override {
    wire_.meter_.reported(reports);
    const std::size_t taken = refresh > Duration::zero() ? feedback::omission_size : 0;
    in_datagrams(reports, feedback::default_max_datagram - taken, [&](std::span<const feedback::BearerReport> some) {
      ++sequence_;
      arrivals_.clear();
      for (const feedback::BearerReport& report : some) {
        arrivals_.push_back(
            {feedback::as_received(report), sender_, epoch, sequence_, now.time_since_epoch(), wire_.config_.period});
      }
      down_.send(arrivals_, {sequence_, now.time_since_epoch(), refresh});
    });
  }
  [[nodiscard]] RecordLine<feedback::BearerStatus, Nothing>& up() { return up_; }
  [[nodiscard]] std::uint64_t lost() const { return down_.lost() + up_.lost(); }

 private:
  /// Header fields of a datagram of reports.
  struct Message {
    std::uint64_t sequence = 0;
    Duration sender_time{};
    Duration refresh{};
  };
  /// Processes the header of a datagram of reports at the proxy. Records its sequence number, from which lost datagrams
  /// are detected. If the reports may omit unchanged UEs, informs the shard of that by a notice.
  void receive(const Message& message, Instant now) {
    gaps_.take(epoch, message.sequence);
    if (message.refresh == Duration::zero()) return;
    const proxy::OmissionNotice notice{
        sender_, epoch, message.sequence, gaps_.since(), message.sender_time, wire_.config_.period, message.refresh};
    wire_.proxy_.on_omissions({&notice, 1}, now);
  }

  FeedbackWire& wire_;
  feedback::SequenceGapTracker gaps_;  ///< sequence gaps of the reports, as the proxy observes them
  std::uint64_t sender_;
  std::uint64_t sequence_ = 0;
  RecordLine<proxy::ReportArrival, Message> down_;  ///< line to the proxy
  RecordLine<feedback::BearerStatus, Nothing> up_;
  std::vector<proxy::ReportArrival> arrivals_;  ///< reports of the datagram that is being sent to the proxy
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
  in_datagrams(std::span<const feedback::BearerStatus>(statuses_), feedback::default_max_datagram,
               [this](std::span<const feedback::BearerStatus> some) {
                 for (const auto& link : links_) link->up().send(some, {});
               });
}

}  // namespace sluice::emulator
