#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/size_distribution.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct FlowSourceConfig {
  std::string name = "flows";  ///< application name in the results
  IpAddress server;
  std::uint16_t port = 80;
  bool upload = false;
  Instant start{};
  Instant stop = never;                          ///< time after which no page begins
  Duration interval = std::chrono::seconds(15);  ///< mean time between page starts; exponential, > 0
  bool regular = false;     ///< even intervals instead, with a random start of the first page within one interval
  double objects_mean = 1;  ///< objects per page: exponential, rounded up; up to 1: always one
  Duration gap{};           ///< mean time between objects of a page; exponential
  SizeDistribution size;
};

/// Generates short flows: pages at random instants (Poisson), each with some objects on connections of their own.
/// With one object per page these are the CLAMP paper's flow arrivals. With several they are the web model of the
/// Window Regulator paper (table I).
class FlowSource final : public EventTarget {
 public:
  /// Starts at `config.start`. `loop`, `host` and `log` outlive it.
  FlowSource(EventLoop& loop, Host& host, FlowSourceConfig config, Random random, FlowLog& log);
  void on_event(std::uint64_t tag, Instant now) override;
  /// Returns the number of flows that are open.
  [[nodiscard]] std::size_t running() const { return flows_.size(); }

 private:
  void begin_page(Instant now);
  [[nodiscard]] Duration to_next_page();

  EventLoop& loop_;
  Host& host_;
  FlowSourceConfig config_;
  Random random_;
  FlowLog& log_;
  std::list<BulkClient> flows_;
};

}  // namespace sluice::emulator
