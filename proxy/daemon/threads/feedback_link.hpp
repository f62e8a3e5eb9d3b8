#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/feedback/report_source.hpp"
#include "control/feedback/report_sources.hpp"
#include "proxy/config/feedback.hpp"
#include "proxy/daemon/threads/shard_channel.hpp"

namespace sluice::proxy {

/// Receives reports of Node-Bs on the control thread. Each report is passed to the shard that owns the UE. The status
/// messages of all shards are sent every period, and shortly after a report. So the Node-B soon gets to know which
/// report was applied.
class FeedbackLink final : private control::feedback::ReportReceiver {
 public:
  /// Shards to which the reports are distributed.
  struct Shards {
    std::vector<ShardChannel*> channels;
    std::function<unsigned(const IpAddress& ue)> owner;  ///< returns the index of the channel whose shard owns the UE

    /// wakes the shard with this index; called after its channel received something
    std::function<void(unsigned)> wake;
  };
  /// Binds the feedback socket and starts receiving. Throws std::runtime_error if the address is not available.
  FeedbackLink(boost::asio::io_context& context, const config::ProxyFeedbackConfig& config, Shards shards);
  ~FeedbackLink();
  FeedbackLink(const FeedbackLink&) = delete;
  FeedbackLink& operator=(const FeedbackLink&) = delete;

  [[nodiscard]] boost::asio::ip::udp::endpoint local() const { return source_->local(); }
  /// Returns the number of places to which statuses are sent.
  [[nodiscard]] std::size_t destinations() const { return source_->destinations(); }
  /// Returns the word that selects the source of the reports.
  [[nodiscard]] std::string_view source() const { return control::feedback::word_of(kind_); }
  /// Returns the numbers of messages that the source has accepted and refused.
  [[nodiscard]] std::uint64_t accepted() const { return source_->accepted(); }
  [[nodiscard]] std::uint64_t refused() const;
  /// Returns all counters of the source and of the link, with their full names. The names of the source `sluice` begin
  /// with "feedback.", those of any other source with "feedback." and its word.
  [[nodiscard]] std::vector<control::feedback::SourceCounter> counters() const;
  /// Returns the number of reports lost because the queue to a shard was full.
  [[nodiscard]] std::uint64_t reports_lost() const { return reports_lost_; }
  /// Returns the number of reports discarded because their values are impossible for a cell.
  [[nodiscard]] std::uint64_t reports_implausible() const { return reports_implausible_; }

 private:
  bool on_report(const control::feedback::ReportArrival& report) override;
  void on_omission(const control::feedback::OmissionNotice& notice) override;
  void on_poll() override;
  void wake_soon(unsigned shard);
  void tick();
  void answer_soon();
  void send_statuses(bool asked);

  control::feedback::ReportSourceKind kind_;
  Duration period_;
  control::feedback::CellRange largest_;
  boost::asio::io_context& context_;
  Shards shards_;
  /// Elements are true if a call of wake() for the shard is already scheduled; indexed by shard.
  std::vector<bool> waking_;
  std::unique_ptr<control::feedback::ReportSource> source_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer answer_;
  bool answering_ = false;
  bool asked_ = false;  ///< true if a poll was received and is not answered yet
  std::vector<control::feedback::BearerStatus> statuses_;
  Instant last_sent_{};
  std::uint64_t reports_lost_ = 0;
  std::uint64_t reports_implausible_ = 0;
};

/// Returns a text that helps to find out why no report of a Node-B arrives. The text contains the local address, the
/// peers, the key ids and the rejected messages by reason.
[[nodiscard]] std::string wiring(const config::FeedbackConfig& config, const FeedbackLink& link);

}  // namespace sluice::proxy
