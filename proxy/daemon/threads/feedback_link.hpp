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

/// Receives reports of Node-Bs on the control thread, and passes each one to the shard that owns the UE. Sends the
/// status messages of all shards periodically, and shortly after a report. A status message shows the Node-B which
/// report was applied last.
class FeedbackLink final : private control::feedback::ReportReceiver {
 public:
  /// Shards to which the reports are distributed.
  struct Shards {
    std::vector<ShardChannel*> channels;
    /// returns the index of the shard, and of its channel, that owns the UE
    std::function<unsigned(const IpAddress& ue)> owner;

    /// wakes the shard with this index; called after data was put into its channel
    std::function<void(unsigned)> wake;
  };
  /// Binds the feedback socket and starts receiving. Throws std::runtime_error if the address is not available.
  FeedbackLink(boost::asio::io_context& context, const config::ProxyFeedbackConfig& config, Shards shards);
  ~FeedbackLink();
  FeedbackLink(const FeedbackLink&) = delete;
  FeedbackLink& operator=(const FeedbackLink&) = delete;

  [[nodiscard]] boost::asio::ip::udp::endpoint local() const { return source_->local(); }
  /// Returns the number of destinations to which status messages are sent.
  [[nodiscard]] std::size_t destinations() const { return source_->destinations(); }
  /// Returns the configuration word that selects the source of the Node-B reports.
  [[nodiscard]] std::string_view source() const { return control::feedback::word_of(kind_); }
  /// Returns the number of messages that the source of the Node-B reports has accepted. See counters() for refused
  /// ones.
  [[nodiscard]] std::uint64_t accepted() const { return source_->accepted(); }
  [[nodiscard]] std::uint64_t refused() const;
  /// Returns all counters of the source of reports and of this object, with full names. Names begin with "feedback.";
  /// for sources other than `sluice` the word of the source follows.
  [[nodiscard]] std::vector<control::feedback::SourceCounter> counters() const;
  /// Returns the number of reports that were lost because the queue to their shard was full.
  [[nodiscard]] std::uint64_t reports_lost() const { return reports_lost_; }
  /// Returns the number of reports that were discarded because they contain values that no cell can have.
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
  /// for each shard: true if a call of wake() is already scheduled
  std::vector<bool> waking_;
  std::unique_ptr<control::feedback::ReportSource> source_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer answer_;
  bool answering_ = false;
  bool asked_ = false;  ///< true if a Node-B's poll (request for all statuses) was received and is not answered yet
  std::vector<control::feedback::BearerStatus> statuses_;
  Instant last_sent_{};
  std::uint64_t reports_lost_ = 0;
  std::uint64_t reports_implausible_ = 0;
};

/// Returns a text that helps to find out why no reports of a Node-B arrive. It contains the local address, the peers,
/// the key ids, and the rejected messages by reason.
[[nodiscard]] std::string wiring(const config::FeedbackConfig& config, const FeedbackLink& link);

}  // namespace sluice::proxy
