#pragma once

#include <string>
#include <string_view>

#include "emulator/report/columns.hpp"

namespace sluice::emulator {

/// Name and unit of a results column for readers.
struct ColumnTitle {
  std::string name;  ///< words of the column's name, such as "page, mean"
  std::string unit;  ///< unit of the column's values after division by `scale`; may be empty
  double scale = 1;  ///< divisor of the column

  /// Returns name and unit as a heading: "page, mean (ms)".
  [[nodiscard]] std::string heading() const { return unit.empty() ? name : name + " (" + unit + ")"; }
};

/// Returns the title of a column, which its name determines: page_mean_ms is "page, mean" in ms, and upload_bps is
/// "upload" in Mb/s. A ratio has the unit "ratio".
[[nodiscard]] ColumnTitle title_of_column(std::string_view column);
/// Returns the title of an additional column, with its own unit and scale if a scenario sets them.
[[nodiscard]] ColumnTitle title_of_column(const ExtraColumn& extra);

}  // namespace sluice::emulator
