#pragma once

#include <cstdint>
#include <map>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/request.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct WebConfig {
  IpAddress server;
  std::uint16_t port = 80;
  Instant start{};
  Duration think_time = std::chrono::seconds(1);  ///< mean of the exponentially distributed time between pages
  std::uint32_t objects_min = 1;  ///< smallest number of objects per page; the number is uniformly distributed
  std::uint32_t objects_max = 8;
  Bytes object_min{1000};  ///< size of the smallest object; sizes are Pareto, cut at the size of the largest object
  Bytes object_max{200'000};
  double object_shape = 1.2;
};

/// Model of a reader of web pages. Opens a connection per page, fetches its objects in sequence, closes it, pauses, and
/// repeats without end.
class WebClient final : public Application, public EventTarget {
 public:
  /// Creates a reader that fetches web pages from `config.start` on. `loop`, `host` and `log` must outlive it.
  WebClient(EventLoop& loop, Host& host, const WebConfig& config, Random random, FlowLog& log);

  void on_event(std::uint64_t tag, Instant now) override;
  void on_open(Connection& connection, Instant now) override;
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override;
  void on_run_end(Connection& connection, Instant now) override;

 private:
  void next_object(Connection& connection, Instant now);
  void object_complete(Connection& connection, Instant now);
  void end_page(Connection& connection, Instant now);

  EventLoop& loop_;
  Host& host_;
  WebConfig config_;
  Random random_;
  FlowLog& log_;
  FlowRecord record_;
  std::uint64_t current_ = 0;  ///< number of the page's connection; 0 between pages
  std::uint32_t objects_left_ = 0;
  std::uint64_t object_left_ = 0;
  Instant asked_{};
};

}  // namespace sluice::emulator
