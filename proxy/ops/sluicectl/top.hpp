#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::sluicectl {

/// Answers that the program gave at one time. Rates are computed from two of these.
struct Look {
  double time_s = 0;  ///< time of the answers in seconds, on a monotonic clock
  admin::Json status;
  admin::Json bearers;  ///< answer to the command `bearers`
  admin::Json flows;    ///< answer to the command `flows`
};

/// Selects the column by which rows are sorted, in descending order.
enum class Order : std::uint8_t { rate, queue, delay };
/// Parses "rate", "queue" or "delay"; returns nothing for other words.
[[nodiscard]] std::optional<Order> parse_order(std::string_view word);

/// Returns bearers and flows with their rates between the samples `before` and `now`. The result is an object with the
/// lists `bearers` and `flows`, sorted by `order`. Values that cannot be computed, such as the rate of a new flow, are
/// null.
[[nodiscard]] admin::Json top_of(const Look& before, const Look& now, Order order);

/// Returns the result of top_of() as text: a summary and two tables. If `rows` is given, the text has at most that many
/// lines. Values of `rows` below nine count as nine.
[[nodiscard]] std::string to_text(const admin::Json& top, std::optional<std::size_t> rows);

}  // namespace sluice::sluicectl
