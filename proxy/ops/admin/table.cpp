// Formats JSON answers as aligned text for terminals. sluicectl calls it for every answer, and `top` for its tables.
// Invariant: the output contains no control character of the answer except line ends of plain texts.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/printable.hpp"

namespace sluice::admin {
namespace {

/// Formats a number with at most three decimals and without trailing zeros.
std::string number(double value) {
  std::array<char, 400> text;
  const int length = std::snprintf(text.data(), text.size(), "%.3f", value);
  std::string digits(text.data(), static_cast<std::size_t>(std::max(length, 0)));
  digits.erase(digits.find_last_not_of('0') + 1);
  if (!digits.empty() && digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string cell(const Json& value) {
  if (value.is_number_float()) return number(value.get<double>());
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_null()) return "-";
  if (value.is_array()) {
    std::string list;
    for (const Json& item : value) list += (list.empty() ? "" : ", ") + cell(item);
    return list.empty() ? "none" : list;
  }
  if (value.is_object()) {
    std::string list;
    for (const auto& [key, item] : value.items())
      list += (list.empty() ? "" : ", ") + printable(key) + " " + cell(item);
    return list.empty() ? "none" : list;
  }
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Returns the number of terminal columns that the text occupies: one for each UTF-8 character.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to) {
  return text + std::string(to - std::min(to, width(text)), ' ');
}

/// Formats rows as lines in which the columns are aligned and separated by two blanks. Lines have no trailing blanks.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void flatten(const Json& object, const std::string& prefix, std::vector<std::vector<std::string>>& rows) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = printable(prefix.empty() ? key : prefix + "." + key);
    if (value.is_object()) {
      flatten(value, name, rows);
    } else {
      rows.push_back({name, cell(value)});
    }
  }
}

std::string table_of(const Json& list) {
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& [key, value] : list.front().items()) rows.front().push_back(printable(key));
  for (const Json& item : list) {
    std::vector<std::string> row;
    for (const auto& [key, value] : list.front().items()) row.push_back(item.contains(key) ? cell(item[key]) : "-");
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

}  // namespace

std::string to_table(const Json& value) {
  if (value.is_object()) {
    std::vector<std::vector<std::string>> rows;
    flatten(value, "", rows);
    return aligned(rows);
  }
  const auto is_object = [](const Json& item) { return item.is_object(); };
  if (value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_object)) return table_of(value);
  if (value.is_array() && value.empty()) return "none\n";
  const std::string text = value.is_string() ? printable(value.get<std::string>(), true) : cell(value);
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

}  // namespace sluice::admin
