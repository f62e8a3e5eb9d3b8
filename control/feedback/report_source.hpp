#pragma once

#include <boost/asio/ip/udp.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/feedback/report.hpp"
#include "control/feedback/report_arrival.hpp"
#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

/// Interface that receives all reports and notices that a report source accepts.
class ReportReceiver {
 public:
  /// Processes a report of an authenticated message. Returns false if the report is discarded, because it is
  /// implausible or because the receiver's queue is full.
  virtual bool on_report(const ReportArrival& report) = 0;
  /// Processes the notice that a Node-B omits unchanged UEs from its reports.
  virtual void on_omission(const OmissionNotice& notice) = 0;
  /// Processes a Node-B's request for an immediate status of every bearer.
  virtual void on_poll() = 0;

 protected:
  ~ReportReceiver() = default;
};

/// Counter of a source.
struct SourceCounter {
  /// Name of the counter without its prefix, which FeedbackLink adds. The prefix is `feedback.` for the source
  /// `sluice`, else `feedback.WORD.`, where WORD selects the source in the configuration. Names that begin with
  /// "refused_" count refused messages, by reason.
  std::string name;
  std::string_view text;  ///< text that describes what is counted; in static storage
  std::uint64_t value = 0;
  bool alarming = false;  ///< true if an increase of the counter is logged as a warning
  std::string detail{};   ///< description of the newest event counted, appended to the warning
};

/// Settings of a report source. Every source uses the local address, the keys and the clock; it ignores other settings
/// that do not apply to it.
struct ReportSourceConfig {
  SessionConfig session;
  UdpEndpointConfig endpoint;
};

/// Receives reports about radio queues in one message format. Authenticates and decodes messages, and passes every
/// accepted report to a receiver. Messages may be hostile: a source checks bounds first, and counts each refused
/// message by reason. No network error stops the source. Runs on the thread of its io_context.
class ReportSource {
 public:
  ReportSource() = default;
  ReportSource(const ReportSource&) = delete;
  ReportSource& operator=(const ReportSource&) = delete;
  virtual ~ReportSource() = default;

  /// Starts receiving. After stop() the receiver is not called any more.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// Sends status messages, which contain the state of bearers at the proxy, to the senders of reports. `period` is the
  /// time until the next call. Does nothing if the source's message format has no status messages.
  virtual void send_statuses(std::span<const BearerStatus> /*statuses*/, Instant /*now*/, Duration /*period*/) {}

  /// Returns the local address and port at which the source receives messages.
  [[nodiscard]] virtual boost::asio::ip::udp::endpoint local() const = 0;
  /// Returns the number of addresses to which status messages (the state of bearers at the proxy) are sent.
  [[nodiscard]] virtual std::size_t destinations() const { return 0; }
  /// Returns the number of messages accepted.
  [[nodiscard]] virtual std::uint64_t accepted() const = 0;
  /// Returns all counters of the source, always in the same order.
  [[nodiscard]] virtual std::vector<SourceCounter> counters() const = 0;
};

}  // namespace sluice::control::feedback
