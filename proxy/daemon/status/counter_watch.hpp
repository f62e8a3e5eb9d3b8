#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Counter of any part of the program, with its name and meaning.
struct NamedCounter {
  std::string name;       ///< unique name, such as "proxy.drop_tcp_checksum"
  std::string_view text;  ///< text that describes what is counted; in static storage
  std::uint64_t value = 0;
  bool alarming = false;  ///< true if an increase of the counter is logged as a warning
  std::string detail{};   ///< description of the newest event that was counted, appended to the warning
};

/// Returns warnings for alarming counters that have increased, at most one per counter and period. The packet path only
/// counts. Thread: the control thread.
class CounterWatch {
 public:
  explicit CounterWatch(Duration period) : period_(period) {}

  /// Compares all counters with their last reported values, and returns the warnings that are due now.
  [[nodiscard]] std::vector<std::string> look(const std::vector<NamedCounter>& counters, Instant now);

 private:
  struct Seen {
    std::uint64_t reported = 0;
    Instant quiet_until{};
  };
  Duration period_;
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace sluice::proxy
