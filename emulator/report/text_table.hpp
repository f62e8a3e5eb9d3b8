#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Cells aligned in columns, the first `left_columns` to the left and the rest to the right; widths count UTF-8
/// characters.
[[nodiscard]] std::string align_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns);

/// The heads and rows of the table that people read, one row per group: goodput, link use, throughput, the three
/// delays, losses, fairness, fetch times where there are any, then the columns asked for, each with a paper's value
/// beside it where some row has one.
[[nodiscard]] std::vector<std::vector<std::string>> summary_rows(const std::vector<ResultGroup>& groups,
                                                                 const std::vector<ExtraColumn>& extra = {});
/// How many of its columns are keys.
[[nodiscard]] std::size_t summary_key_columns(const std::vector<ResultGroup>& groups);

/// The table as text for a terminal.
[[nodiscard]] std::string summary_text(const std::vector<RunResult>& results,
                                       const std::vector<ExtraColumn>& extra = {});

}  // namespace sluice::emulator
