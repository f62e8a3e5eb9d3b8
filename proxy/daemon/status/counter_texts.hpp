#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/daemon/status/counter_watch.hpp"

namespace sluice::proxy {

/// Name and meaning of a counter that every `sluicectl counters` can contain.
struct CounterDescription {
  std::string name;       ///< whole name, such as "ports.radio.received"
  std::string_view text;  ///< text that describes what is counted; in static storage
};

/// Returns every counter of the program, whether or not the configuration has the part that counts.
[[nodiscard]] std::vector<CounterDescription> counter_descriptions();

/// Returns a counter outside the shards with its text. `pattern` is its name in the table, in which `*` stands for
/// `port`. Throws std::logic_error if the table lacks the name.
[[nodiscard]] NamedCounter counter_of(std::string_view pattern, std::uint64_t value, std::string_view port = {},
                                      std::string detail = {});

}  // namespace sluice::proxy
