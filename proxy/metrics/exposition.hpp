#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::metrics {

/// How a page of metrics is written.
enum class Format : std::uint8_t {
  text,        ///< Prometheus' text format, version 0.0.4
  openmetrics  ///< OpenMetrics 1.0.0
};
/// The format that the value of an HTTP header `Accept` asks for.
[[nodiscard]] Format format_for(std::string_view accept);
/// The page's media type.
[[nodiscard]] std::string_view content_type(Format format);

enum class Kind : std::uint8_t { counter, gauge, info, histogram };

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::span<const Label>;

/// So many values did not exceed `upper`, those of the buckets before included.
struct Bucket {
  double upper = 0;
  std::uint64_t count = 0;
};

/// Writes a page of metrics, family by family. Names come without the suffixes _total and _info, which follow from the
/// kind.
class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  /// Samples from now on belong to this family. A family is begun once.
  void family(std::string_view name, Kind kind, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, double value);
  template <typename Value>
  void sample(std::initializer_list<Label> labels, Value value) {
    sample(Labels(labels.begin(), labels.size()), value);
  }
  /// A histogram: buckets in ascending order, then how many values there are. Where their sum is not known their number
  /// is told by the last bucket alone, since OpenMetrics has _count only beside _sum.
  void buckets(Labels labels, std::span<const Bucket> buckets, std::uint64_t count, std::optional<double> sum);
  /// The whole page.
  [[nodiscard]] std::string finish() &&;

 private:
  void line(std::string_view suffix, Labels labels, std::string_view value);

  Format format_;
  Kind kind_ = Kind::gauge;
  std::string name_;
  std::string page_;
};

}  // namespace sluice::metrics
