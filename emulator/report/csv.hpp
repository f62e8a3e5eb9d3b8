#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::emulator {

/// A table of text with named columns, as in a CSV file (RFC 4180). Every row has as many cells as there are columns.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  /// Returns the index of a column, or nothing if there is none of this name.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Returns the table as CSV with LF line ends; cells with a comma, quote or line break are quoted.
[[nodiscard]] std::string format_csv(const CsvTable& table);

/// Parses CSV with a header row. Throws std::runtime_error with the line if a quote is not closed or a row has another
/// number of cells than the header.
[[nodiscard]] CsvTable parse_csv(std::string_view text);

/// Returns a number as text of six significant digits, without exponent and independent of the locale. Empty if the
/// number is not finite.
[[nodiscard]] std::string format_number(double value);

/// Parses a finite number, or returns nothing if the text is anything else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace sluice::emulator
