#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::page {

/// Ring of the newest values of a live page, with one row for each second. All memory is allocated at construction.
/// Thread: one.
class History {
 public:
  /// Number of rows for one hour, at one row per second.
  static constexpr std::size_t one_hour = 3600;

  /// Creates an empty history of `capacity` rows. `columns` are the names of the values in a row.
  explicit History(std::vector<std::string_view> columns, std::size_t capacity = one_hour);

  /// Adds a row for the time `time_s`, in seconds. If the ring is full, the row replaces the oldest one. `values`
  /// contains one value for each column; NaN stands for an unknown value.
  void add(double time_s, std::span<const float> values);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the number of bytes of memory that the rows occupy. The number never changes.
  [[nodiscard]] std::size_t bytes() const;
  /// Returns all rows as JSON, the oldest first: {"columns": ["time_s", …], "rows": [[…], …]}. Unknown values are null.
  [[nodiscard]] std::string json() const;
  /// Returns the newest row as a JSON object, or "null" if there is no row.
  [[nodiscard]] std::string newest_json() const;

 private:
  void append_value(std::string& out, std::size_t row, std::size_t column) const;

  std::vector<std::string_view> columns_;
  std::vector<double> times_;
  std::vector<float> values_;  ///< values of all rows, row by row
  std::size_t next_ = 0;       ///< index of the row that the next call of add() writes
  std::size_t size_ = 0;
};

}  // namespace sluice::page
