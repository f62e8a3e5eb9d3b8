#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/report/result_group.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {

/// The name of the column that says the mode.
inline constexpr std::string_view mode_key = "mode";

/// What a run has in a key column: its mode, as people read it, or the point of a swept column; empty when there is
/// none.
[[nodiscard]] std::string key_value(const RunKey& key, std::string_view column);

/// Whether "column=point" holds for a run: its mode (none, smvs, …), or the point of a swept column.
[[nodiscard]] bool key_holds(const RunKey& key, const std::string& condition);

/// The swept columns in which the groups differ and of which none follows from those before it, then the mode where it
/// does not follow from them. (Columns that are swept together say the same thing more than once.) `first` is taken
/// before all others.
[[nodiscard]] std::vector<std::string> telling_columns(const std::vector<const ResultGroup*>& groups,
                                                       const std::string& first = {});

/// The points of a key column, in the order in which they appear.
[[nodiscard]] std::vector<std::string> points_of(const std::vector<const ResultGroup*>& groups,
                                                 std::string_view column);

/// Whether every point of a key column is a number.
[[nodiscard]] bool is_numeric(const std::vector<const ResultGroup*>& groups, std::string_view column);

/// Where the points of one of several lines stand in a category: how far from its middle, of a width of 1.
[[nodiscard]] double place_beside(std::size_t line, std::size_t lines);

/// The line a group belongs to: what it has in these columns. Numbers are preceded by the column's name.
[[nodiscard]] std::string line_name(const RunKey& key, const std::vector<std::string>& columns);

/// An axis along a key column: numbers when all points are, else categories in order of appearance.
class KeyAxis {
 public:
  KeyAxis(const std::vector<const ResultGroup*>& groups, std::string column);
  /// Where a group stands on it.
  [[nodiscard]] double at(const RunKey& key) const;
  /// Its label is the column's name.
  [[nodiscard]] PlotAxis axis() const;
  [[nodiscard]] bool numeric() const { return numeric_; }

 private:
  std::string column_;
  std::vector<std::string> words_;
  bool numeric_;
  bool log_ = false;
};

}  // namespace sluice::emulator
