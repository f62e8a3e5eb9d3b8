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
/// Returns the text format that the HTTP header `Accept` of a request asks for.
[[nodiscard]] Format format_for(std::string_view accept);
/// Returns the media type of a page in this format.
[[nodiscard]] std::string_view content_type(Format format);

enum class Kind : std::uint8_t { counter, gauge, info, histogram };

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::span<const Label>;

/// Cumulative bucket of a histogram: the number of values that do not exceed `upper`.
struct Bucket {
  double upper = 0;
  std::uint64_t count = 0;
};

/// Writes a page of metrics, family by family. Pass names without the suffixes _total and _info; the suffix follows
/// from the kind.
class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  /// Begins a metric family, to which all samples belong that are written next. Each family may be begun once.
  void family(std::string_view name, Kind kind, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  template <typename Value>
  void sample(std::initializer_list<Label> labels, Value value) {
    sample(Labels(labels.begin(), labels.size()), value);
  }
  /// Writes a histogram: its buckets in ascending order, then `count`, the number of values. If there is no `sum`, no
  /// _count is written, because OpenMetrics does not allow _count without _sum.
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
