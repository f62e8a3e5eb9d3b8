#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/report/result_group.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {

/// Name of the column that contains the mode.
inline constexpr std::string_view mode_key = "mode";

/// Returns a run's value in a key column: the name of its mode, or its value in a swept column. Empty if the run has no
/// such column.
[[nodiscard]] std::string key_value(const RunKey& key, std::string_view column);

/// True if a run meets a condition of the form "column=value". The column is `mode` (values: none, smvs, …) or a swept
/// column.
[[nodiscard]] bool key_holds(const RunKey& key, const std::string& condition);

/// Returns the key columns (mode and swept columns) whose values together distinguish all groups of runs. A column is
/// left out if the columns before it determine its value, so of columns that are swept together only one remains. The
/// column `first` comes before the others. Unless it is the mode, the mode comes last.
[[nodiscard]] std::vector<std::string> telling_columns(const std::vector<const ResultGroup*>& groups,
                                                       const std::string& first = {});

/// Returns the different values that the groups have in the column `column` (mode or a swept column), in order of
/// appearance.
[[nodiscard]] std::vector<std::string> points_of(const std::vector<const ResultGroup*>& groups,
                                                 std::string_view column);

/// True if all values that the groups have in the column `column` (mode or a swept column) are numbers.
[[nodiscard]] bool is_numeric(const std::vector<const ResultGroup*>& groups, std::string_view column);

/// Returns the offset of a line's points from the middle of a category of width 1. `line` is the number of the line,
/// and `lines` the number of lines in the category.
[[nodiscard]] double place_beside(std::size_t line, std::size_t lines);

/// Returns the name of the line of a plot to which a run belongs: the run's values in `columns`. A numeric value is
/// preceded by the column's name.
[[nodiscard]] std::string line_name(const RunKey& key, const std::vector<std::string>& columns);

/// Axis along a key column (mode or swept column). It is numeric if all values are numbers, and logarithmic if they
/// extend over a wide range. Otherwise it has categories in order of appearance.
class KeyAxis {
 public:
  KeyAxis(const std::vector<const ResultGroup*>& groups, std::string column);
  /// Returns the position of a group on the axis.
  [[nodiscard]] double at(const RunKey& key) const;
  /// Returns the plot axis, labelled by the column's name.
  [[nodiscard]] PlotAxis axis() const;
  [[nodiscard]] bool numeric() const { return numeric_; }

 private:
  std::string column_;
  std::vector<std::string> words_;
  bool numeric_;
  bool log_ = false;
};

}  // namespace sluice::emulator
