#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::page {

/// Ring of the newest values of a live page, one row per second. All memory is allocated at construction. Thread: one.
class History {
 public:
  /// Number of rows of one hour.
  static constexpr std::size_t one_hour = 3600;

  /// `columns` are the names of the values in a row.
  explicit History(std::vector<std::string_view> columns, std::size_t capacity = one_hour);

  /// Adds a row, which replaces the oldest one once the ring is full. `values` has one value for each column; NaN
  /// stands for an unknown one.
  void add(double time_s, std::span<const float> values);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the number of bytes that the rows occupy, which is constant.
  [[nodiscard]] std::size_t bytes() const;
  /// Returns all rows as JSON, the oldest first: {"columns": ["time_s", …], "rows": [[…], …]}. Unknown values are null.
  [[nodiscard]] std::string json() const;
  /// Returns the newest row as a JSON object, or "null" if there is none.
  [[nodiscard]] std::string newest_json() const;

 private:
  void append_value(std::string& out, std::size_t row, std::size_t column) const;

  std::vector<std::string_view> columns_;
  std::vector<double> times_;
  std::vector<float> values_;  ///< values of all rows, one row after the other
  std::size_t next_ = 0;       ///< index of the row that is written next
  std::size_t size_ = 0;
};

}  // namespace sluice::page
