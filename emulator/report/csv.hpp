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

  /// Index of a column; nothing when there is none of that name.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Writes with LF line ends; cells with a comma, quote or line break are quoted.
[[nodiscard]] std::string format_csv(const CsvTable& table);

/// Reads what format_csv() wrote, and other CSV with a header row. Throws std::runtime_error with the line when
/// a quote is not closed or a row has another number of cells than the header.
[[nodiscard]] CsvTable parse_csv(std::string_view text);

/// A number for a CSV cell: six significant digits, no exponent where it can be avoided, the same everywhere. Empty for
/// a number that is not finite.
[[nodiscard]] std::string format_number(double value);

/// Reads a finite number; nothing when the text is anything else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace sluice::emulator
