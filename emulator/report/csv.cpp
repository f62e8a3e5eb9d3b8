// CSV text (RFC 4180) to tables and back, and numbers as text. Result files are written and read through it.
// Invariant: format_csv() and parse_csv() are inverse for tables whose rows have as many cells as the header. Errors
// name the line.

#include "emulator/report/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace sluice::emulator {
namespace {

void append_cell(std::string& out, const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_row(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    append_cell(out, cells[i]);
  }
  out += '\n';
}

/// Parses the rows of a CSV text, one after the other.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t line() const { return line_; }

  std::vector<std::string> row() {
    std::vector<std::string> cells;
    bool more = true;
    while (more) {
      cells.push_back(!at_end() && text_[at_] == '"' ? quoted() : plain());
      more = !at_end() && text_[at_] == ',';
      if (more) ++at_;
    }
    end_of_line();
    return cells;
  }

 private:
  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }
  std::string quoted() {
    std::string cell;
    const std::size_t opened = line_;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"') {
        ++at_;
        if (at_end() || text_[at_] != '"') return cell;
      }
      cell += text_[at_];
    }
    throw std::runtime_error("line " + std::to_string(opened) + ": a quote is not closed");
  }
  void end_of_line() {
    if (at_end()) return;
    if (text_[at_] == '\r') ++at_;
    if (at_end()) return;
    if (text_[at_] != '\n') throw std::runtime_error("line " + std::to_string(line_) + ": text after a closing quote");
    ++at_;
    ++line_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

std::string format_csv(const CsvTable& table) {
  std::string out;
  append_row(out, table.columns);
  for (const std::vector<std::string>& row : table.rows) append_row(out, row);
  return out;
}

CsvTable parse_csv(std::string_view text) {
  Reader reader(text);
  CsvTable table;
  if (reader.at_end()) throw std::runtime_error("line 1: a header row is missing");
  table.columns = reader.row();
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    std::vector<std::string> cells = reader.row();
    if (cells.size() != table.columns.size()) {
      throw std::runtime_error("line " + std::to_string(line) + ": " + std::to_string(cells.size()) +
                               " cells, the header has " + std::to_string(table.columns.size()));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return "0";
  char buffer[64];
  // Six significant digits; integers up to 9e15 in full.
  if (value == std::floor(value) && std::abs(value) < 9e15) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<long long>(value)).ptr;
    return {buffer, end};
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int decimals = std::clamp(5 - magnitude, 0, 12);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  std::string text(buffer, end);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace sluice::emulator
