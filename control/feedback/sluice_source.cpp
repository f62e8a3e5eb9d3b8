// Source of reports by the protocol of PROTOCOL.md, which nodeb uses. make_report_source() creates it for the proxy.
// Session authenticates and decodes, UdpEndpoint is the transport. Invariant: if the receiver discards a report, its
// datagram counts as missing. Otherwise an omitted UE would count as unchanged since an older report.

#include <string>
#include <unordered_map>

#include "control/feedback/report_source.hpp"
#include "control/feedback/report_sources.hpp"
#include "control/feedback/sequence_gap_tracker.hpp"

namespace sluice::control::feedback {
namespace {

/// Maximum number of Node-Bs whose sequence numbers are tracked because they omit unchanged UEs from their reports.
constexpr std::size_t max_suppressing = 1024;

class SluiceSource final : public ReportSource, private RecordHandler {
 public:
  SluiceSource(boost::asio::io_context& context, const ReportSourceConfig& config, ReportReceiver& receiver)
      : receiver_(receiver), session_(config.session), endpoint_(context, config.endpoint, session_, *this) {}

  void start() override { endpoint_.start(); }
  void stop() override { endpoint_.stop(); }
  void send_statuses(std::span<const BearerStatus> statuses, Instant now, Duration period) override {
    session_.set_limit(session_.limit_of_peers(now));
    endpoint_.send_statuses(statuses, now.time_since_epoch(), period);
  }
  [[nodiscard]] boost::asio::ip::udp::endpoint local() const override { return endpoint_.local(); }
  [[nodiscard]] std::size_t destinations() const override { return endpoint_.destination_count(); }
  [[nodiscard]] std::uint64_t accepted() const override { return session_.counters().front(); }
  [[nodiscard]] std::vector<SourceCounter> counters() const override;

 private:
  void on_message(const Header& header) override;
  void on_report(const Header& header, const BearerReport& report) override;
  void on_status(const Header&, const BearerStatus&) override {}  // Session rejects statuses on the proxy's side

  ReportReceiver& receiver_;
  Session session_;
  UdpEndpoint endpoint_;
  /// Objects that track the sequence numbers of Node-Bs that omit unchanged UEs from their reports, by sender id.
  std::unordered_map<std::uint64_t, SequenceGapTracker> suppressing_;
};

void SluiceSource::on_message(const Header& header) {
  const bool omits = header.refresh > Duration::zero();
  if (omits || suppressing_.contains(header.sender)) {
    if (suppressing_.size() >= max_suppressing && !suppressing_.contains(header.sender)) suppressing_.clear();
    SequenceGapTracker& gaps = suppressing_[header.sender];
    gaps.take(header.epoch, header.sequence);
    if (omits) {
      receiver_.on_omission({header.sender, header.epoch, header.sequence, gaps.since(), header.sender_time,
                             header.period, header.refresh});
    }
  }
  if (header.poll) receiver_.on_poll();
}

void SluiceSource::on_report(const Header& header, const BearerReport& report) {
  if (receiver_.on_report({report, header.sender, header.epoch, header.sequence, header.sender_time, header.period})) {
    return;
  }
  if (const auto found = suppressing_.find(header.sender); found != suppressing_.end()) found->second.lose();
}

std::vector<SourceCounter> SluiceSource::counters() const {
  std::vector<SourceCounter> out;
  const FailureCounters& failures = session_.counters();
  const std::optional<StaleSender>& stale = session_.stale();
  for (std::size_t i = 0; i < failure_count; ++i) {
    const auto failure = static_cast<Failure>(i);
    const bool taken = failure == Failure::none;
    out.push_back({taken ? "accepted" : "refused_" + std::string(name_of(failure)),
                   taken ? std::string_view("datagrams accepted") : text_of(failure), failures.at(i), !taken,
                   failure == Failure::stale_epoch && stale ? to_string(*stale) : ""});
  }
  const UdpCounters& udp = endpoint_.counters();
  out.push_back({"datagrams_received", "datagrams received", udp.datagrams_received, false});
  out.push_back({"datagrams_sent", "datagrams sent", udp.datagrams_sent, false});
  out.push_back({"receive_errors", "errors of the socket while receiving", udp.receive_errors, true});
  out.push_back({"send_errors", "datagrams that could not be sent (the Node-B is down?)", udp.send_errors, true});
  out.push_back({"not_answered", "datagrams from addresses that learn_from of their key does not contain",
                 udp.not_answered, true});
  out.push_back(
      {"no_room_to_learn", "datagrams from more addresses than feedback.most_learned", udp.no_room_to_learn, true});
  return out;
}

}  // namespace

std::unique_ptr<ReportSource> make_sluice_source(boost::asio::io_context& context, const ReportSourceConfig& config,
                                                 ReportReceiver& receiver) {
  return std::make_unique<SluiceSource>(context, config, receiver);
}

}  // namespace sluice::control::feedback
