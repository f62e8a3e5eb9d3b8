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
  Instant stop = never;  ///< time after which no page begins

  /// Mean of the exponentially distributed time between page starts, > 0.
  Duration interval = std::chrono::seconds(15);
  bool regular = false;     ///< true: pages start at even intervals; the first one at a random time within one interval
  double objects_mean = 1;  ///< mean number of objects per page (exponential, rounded up); up to 1: always one
  Duration gap{};           ///< mean of the exponentially distributed time between objects of a page
  SizeDistribution size;
};

/// Generates short flows. Pages start at random instants (Poisson), and each page has some objects, each on a separate
/// connection. With one object per page, the flows arrive as in the CLAMP paper (Andrew et al., TMC 2008). With
/// several, they form the web model of table I of the Window Regulator paper (Chan and Ramjee, INFOCOM 2004).
class FlowSource final : public EventTarget {
 public:
  /// Creates a source whose pages start from `config.start` on. `loop`, `host` and `log` must outlive it.
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
