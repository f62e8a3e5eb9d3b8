#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/feedback/sequence_gap_tracker.hpp"
#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "proxy/config/feedback.hpp"
#include "proxy/daemon/threads/shard_channel.hpp"

namespace sluice::proxy {

/// Returns a text that helps to find out why no report of a Node-B arrives. The text contains the local address, the
/// peers, the key ids and the rejected datagrams by reason.
[[nodiscard]] std::string wiring(const config::FeedbackConfig& config,
                                 const control::feedback::FailureCounters& received);

/// The proxy's end of the feedback protocol, on the control thread. Reports go to the shard that owns the UE. Statuses
/// of all shards are sent every period, and shortly after a report so that the Node-B soon receives which report was
/// applied.
class FeedbackLink final : private control::feedback::RecordHandler {
 public:
  /// Shards to which the reports are distributed.
  struct Shards {
    std::vector<ShardChannel*> channels;
    std::function<unsigned(const IpAddress& ue)> owner;  ///< returns the index of the channel whose shard owns the UE

    /// wakes the shard with this index; called after its channel received something
    std::function<void(unsigned)> wake;
  };
  /// Binds the feedback socket and starts receiving. Throws std::runtime_error if the address is not available.
  FeedbackLink(boost::asio::io_context& context, const config::FeedbackConfig& config, Shards shards);
  ~FeedbackLink();
  FeedbackLink(const FeedbackLink&) = delete;
  FeedbackLink& operator=(const FeedbackLink&) = delete;

  [[nodiscard]] boost::asio::ip::udp::endpoint local() const { return endpoint_.local(); }
  [[nodiscard]] std::vector<boost::asio::ip::udp::endpoint> destinations() const { return endpoint_.destinations(); }
  [[nodiscard]] const control::feedback::FailureCounters& failures() const { return session_.counters(); }
  /// Returns the last datagram that was rejected because of an old epoch.
  [[nodiscard]] const std::optional<control::feedback::StaleSender>& stale() const { return session_.stale(); }
  [[nodiscard]] const control::feedback::UdpCounters& counters() const { return endpoint_.counters(); }
  /// Returns the number of records lost because the queue to a shard was full.
  [[nodiscard]] std::uint64_t reports_lost() const { return reports_lost_; }
  /// Returns the number of records discarded because their values are impossible for a cell.
  [[nodiscard]] std::uint64_t reports_implausible() const { return reports_implausible_; }

 private:
  void on_message(const control::feedback::Header& header) override;
  void on_report(const control::feedback::Header& header, const control::feedback::BearerReport& report) override;
  void on_status(const control::feedback::Header& header, const control::feedback::BearerStatus& status) override;
  void pass_on_omission(const control::feedback::Header& header);
  void lose_record(std::uint64_t sender);
  void wake_soon(unsigned shard);
  void tick();
  void answer_soon();
  void send_statuses(bool asked);

  Duration period_;
  control::feedback::CellRange largest_;
  boost::asio::io_context& context_;
  Shards shards_;
  /// Elements are true if a call of wake() for the shard is already scheduled; indexed by shard.
  std::vector<bool> waking_;
  control::feedback::Session session_;
  control::feedback::UdpEndpoint endpoint_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer answer_;
  bool answering_ = false;
  bool asked_ = false;  ///< true if a poll was received and is not answered yet
  std::vector<control::feedback::BearerStatus> statuses_;
  /// Gap trackers of the Node-Bs that leave unchanged UEs out of their reports, by sender id.
  std::unordered_map<std::uint64_t, control::feedback::SequenceGapTracker> suppressing_;
  Instant last_sent_{};
  std::uint64_t reports_lost_ = 0;
  std::uint64_t reports_implausible_ = 0;
};

}  // namespace sluice::proxy
