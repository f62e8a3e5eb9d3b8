#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Aligns cells in columns, the first `left_columns` to the left and the rest to the right. Widths count UTF-8
/// characters.
[[nodiscard]] std::string align_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns);

/// Returns the heading and one row per group: goodput, link use, throughput, three delays, losses and fairness.
/// Fetch times follow if there are any, then the additional columns, each with a paper's value if some row has one.
[[nodiscard]] std::vector<std::vector<std::string>> summary_rows(const std::vector<ResultGroup>& groups,
                                                                 const std::vector<ExtraColumn>& extra = {});
/// Returns the number of key columns of the table.
[[nodiscard]] std::size_t summary_key_columns(const std::vector<ResultGroup>& groups);

/// Returns the table as text for a terminal.
[[nodiscard]] std::string summary_text(const std::vector<RunResult>& results,
                                       const std::vector<ExtraColumn>& extra = {});

}  // namespace sluice::emulator
