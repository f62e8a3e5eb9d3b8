#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/admin/command.hpp"

namespace sluice::sluicectl {

/// What the program said at one moment.
struct Look {
  double time_s = 0;  ///< of any clock that runs evenly
  admin::Json status;
  admin::Json bearers;  ///< answers to the commands of these names
  admin::Json flows;
};

/// What rows are ordered by, the largest first.
enum class Order : std::uint8_t { rate, queue, delay };
/// Nothing where the word is none of "rate", "queue", "delay".
[[nodiscard]] std::optional<Order> parse_order(std::string_view word);

/// Bearers and flows with their rates between two looks: an object with the lists `bearers` and `flows` in this order.
/// What cannot be told, such as the rate of one that was not there before, is null.
[[nodiscard]] admin::Json top_of(const Look& before, const Look& now, Order order);

/// The same for people: a line on the whole, then both tables, at most `rows` lines together where given.
[[nodiscard]] std::string to_text(const admin::Json& top, std::optional<std::size_t> rows);

}  // namespace sluice::sluicectl
