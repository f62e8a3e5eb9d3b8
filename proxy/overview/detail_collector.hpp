#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>

#include "proxy/admin/command.hpp"
#include "proxy/overview/overview.hpp"

namespace sluice::proxy {

/// Asks the shards for lists of flows or bearers, which they only make up when asked, and answers when all have. One
/// request after the other. Thread: the control thread.
class DetailCollector {
 public:
  DetailCollector(boost::asio::io_context& context, Overview& overview) : overview_(overview), timer_(context) {}

  /// At most `limit` entries of all shards together, 1 … most_details.
  void flows(std::uint16_t limit, admin::Reply reply);
  void bearers(std::uint16_t limit, admin::Reply reply);

 private:
  struct Job {
    DetailRequest request;
    admin::Reply reply;
  };
  void add(DetailRequest request, admin::Reply reply);
  void begin();
  void wait();
  void look();
  void finish(const admin::Answer& answer);
  [[nodiscard]] admin::Answer collect(const DetailRequest& request) const;

  Overview& overview_;
  boost::asio::steady_timer timer_;
  std::deque<Job> jobs_;  ///< the first is under way
  std::uint32_t last_id_ = 0;
  boost::asio::steady_timer::time_point deadline_;
};

}  // namespace sluice::proxy
