#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::metrics {

/// Selects the text format of a page of metrics.
enum class Format : std::uint8_t {
  text,        ///< text format of Prometheus, version 0.0.4
  openmetrics  ///< text format of OpenMetrics 1.0.0
};
/// Returns the format that an HTTP header `Accept` requests.
[[nodiscard]] Format format_for(std::string_view accept);
/// Returns the media type of a page in this format.
[[nodiscard]] std::string_view content_type(Format format);

enum class Kind : std::uint8_t { counter, gauge, info, histogram };

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::span<const Label>;

/// Bucket of a histogram: number of values up to `upper`, including those of the buckets before.
struct Bucket {
  double upper = 0;
  std::uint64_t count = 0;
};

/// Writes a page of metrics, one family after the other. Names are given without the suffixes _total and _info, which
/// the kind determines.
class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  /// Begins a metric family; the samples that follow belong to it. Each family is begun once.
  void family(std::string_view name, Kind kind, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  template <typename Value>
  void sample(std::initializer_list<Label> labels, Value value) {
    sample(Labels(labels.begin(), labels.size()), value);
  }
  /// Writes a histogram: buckets in ascending order, then the number of values. Without a sum only the last bucket
  /// shows the number, because OpenMetrics allows _count only with _sum.
  void buckets(Labels labels, std::span<const Bucket> buckets, std::uint64_t count, std::optional<double> sum);
  /// Returns the complete page of metrics.
  [[nodiscard]] std::string finish() &&;

 private:
  void line(std::string_view suffix, Labels labels, std::string_view value);

  Format format_;
  Kind kind_ = Kind::gauge;
  std::string name_;
  std::string page_;
};

}  // namespace sluice::metrics
