#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::sluicectl {

/// Answers of the program at one time, from which rates are computed.
struct Look {
  double time_s = 0;  ///< time of the answers on a monotonic clock in seconds
  admin::Json status;
  admin::Json bearers;  ///< answer to the command `bearers`
  admin::Json flows;    ///< answer to the command `flows`
};

/// Selects the column by which rows are sorted, in descending order.
enum class Order : std::uint8_t { rate, queue, delay };
/// Parses "rate", "queue" or "delay"; returns nothing for other words.
[[nodiscard]] std::optional<Order> parse_order(std::string_view word);

/// Returns bearers and flows with their rates between two samples. The result is an object with the lists `bearers` and
/// `flows`, sorted by `order`. Values that cannot be computed, such as the rate of a new flow, are null.
[[nodiscard]] admin::Json top_of(const Look& before, const Look& now, Order order);

/// Formats the result of top_of() as text: a summary line and both tables, together at most `rows` lines if given.
[[nodiscard]] std::string to_text(const admin::Json& top, std::optional<std::size_t> rows);

}  // namespace sluice::sluicectl
