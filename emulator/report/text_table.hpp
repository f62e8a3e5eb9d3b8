#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/ratios.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Aligns cells in columns, the first `left_columns` to the left and the rest to the right. Widths count UTF-8
/// characters.
[[nodiscard]] std::string align_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns);

/// Returns the heading and one row per group of runs that differ only in the seed: goodput, link use, throughput, three
/// delays, losses and fairness. Fetch times follow if there are any, then the additional columns, each with a paper's
/// value if some row has one.
[[nodiscard]] std::vector<std::vector<std::string>> summary_rows(const std::vector<ResultGroup>& groups,
                                                                 const std::vector<ExtraColumn>& extra = {});
/// Returns the number of key columns (scenario, mode and swept columns) of the table.
[[nodiscard]] std::size_t summary_key_columns(const std::vector<ResultGroup>& groups);

/// Width that a table may have, and the width that each of its columns needs besides its longest cell. The unit of both
/// is the width of a letter.
struct TableWidth {
  std::size_t most = 0;
  std::size_t between = 0;
};
/// Splits a table, whose first row is the heading, into parts that are not wider than `width` if possible. Each part
/// begins with the key columns. A column without any value is left out. A row is left out of each part in which it has
/// no value.
[[nodiscard]] std::vector<std::vector<std::vector<std::string>>> split_table(
    const std::vector<std::vector<std::string>>& rows, std::size_t key_columns, const TableWidth& width);

/// How summary_text() presents results.
struct SummaryOptions {
  std::size_t width = 160;  ///< columns of the terminal
  /// If set, the first sentences compare ratios of results; otherwise they compare the results themselves.
  std::optional<RatioSpec> ratio{};
};
/// Returns the sentences that compare the results (answer_of()) and the table as text for a terminal.
[[nodiscard]] std::string summary_text(const std::vector<RunResult>& results,
                                       const std::vector<ExtraColumn>& extra = {}, const SummaryOptions& options = {});

}  // namespace sluice::emulator
