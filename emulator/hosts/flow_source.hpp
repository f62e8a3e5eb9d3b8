#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/size_distribution.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct FlowSourceConfig {
  std::string name = "flows";  ///< in the results
  IpAddress server;
  std::uint16_t port = 80;
  bool upload = false;
  Instant start{};
  Instant stop = never;                          ///< no page begins from then on
  Duration interval = std::chrono::seconds(15);  ///< mean between the beginnings of pages; exponential, > 0
  bool regular = false;                          ///< even intervals instead, the first page at a random instant of one
  double objects_mean = 1;                       ///< per page: exponential, rounded up; 1 or less: one each
  Duration gap{};                                ///< mean between objects of a page; exponential
  SizeDistribution size;
};

/// Flows that come and go: pages at random instants (Poisson), each of some objects, each object a connection of its
/// own. With one object a page it is the CLAMP paper's arrivals of flows; with several the web model of the Window
/// Regulator paper (table I).
class FlowSource final : public EventTarget {
 public:
  /// `loop`, `host` and `log` outlive it.
  FlowSource(EventLoop& loop, Host& host, FlowSourceConfig config, Random random, FlowLog& log);
  void on_event(std::uint64_t tag, Instant now) override;
  /// Flows that are running.
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
