#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Counter of any part of the program, with its name, meaning and value.
struct NamedCounter {
  std::string name;       ///< unique name, such as "proxy.drop_tcp_checksum"
  std::string_view text;  ///< text that explains what is counted; it is in static storage
  std::uint64_t value = 0;
  bool alarming = false;  ///< true if a warning is logged when the counter increases
  std::string detail{};   ///< description of the newest counted event, which the warning contains
};

/// Returns a warning for each counter that has increased and whose member `alarming` is true. For each counter there is
/// at most one warning in the time given to the constructor. The packet path only increments counters. Thread: the
/// control thread.
class CounterWatch {
 public:
  explicit CounterWatch(Duration period) : period_(period) {}

  /// Compares each counter with the value in its last warning, and returns the warnings that are due at `now`.
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
