#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/daemon/status/counter_watch.hpp"

namespace sluice::proxy {

/// Name and meaning of a counter that `sluicectl counters` can show.
struct CounterDescription {
  std::string name;       ///< full name, such as "ports.radio.received"
  std::string_view text;  ///< text that explains what is counted; it is in static storage
};

/// Returns every counter that the program can have, including counters of parts that this configuration does not use.
[[nodiscard]] std::vector<CounterDescription> counter_descriptions();

/// Returns a counter that belongs to no shard, with its value and text. `pattern` is its name in the table of texts, in
/// which `*` stands for `port`. `detail` describes the newest counted event, for the log. Throws std::logic_error if
/// the table does not contain `pattern`.
[[nodiscard]] NamedCounter counter_of(std::string_view pattern, std::uint64_t value, std::string_view port = {},
                                      std::string detail = {});

}  // namespace sluice::proxy
