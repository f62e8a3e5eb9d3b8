// Writes metrics in Prometheus' text format 0.0.4 or in OpenMetrics 1.0.0, as the client's Accept header requests.
// proxy/daemon/status/metrics_page.cpp calls it for /metrics. Invariant: each family is written once and completely, as
// both formats demand.
#include "proxy/daemon/status/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sluice::metrics {
namespace {

constexpr std::array<std::string_view, 4> suffixes{"_total", "", "_info", ""};                  // indexed by Kind
constexpr std::array<std::string_view, 4> type_names{"counter", "gauge", "info", "histogram"};  // indexed by Kind

/// Returns the upper bound of a histogram bucket as text. It always has a decimal point, because OpenMetrics requires
/// one.
std::string bound(double upper) {
  std::string text = fmt::format("{}", upper);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// Returns the text with backslashes and line ends escaped, and quotation marks too if `quotes` is true.
std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || (c == '"' && quotes)) out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// Removes the first element and its separator from the list `rest`. Returns that element without surrounding blanks.
std::string_view take_element(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  std::string_view element = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  element.remove_prefix(std::min(element.find_first_not_of(" \t"), element.size()));
  return element.substr(0, element.find_last_not_of(" \t") + 1);
}

/// True if the parameter of an element in the HTTP header Accept is a weight of zero, such as q=0.0. Zero means "not
/// acceptable" (RFC 9110 section 12.4.2).
bool is_zero_weight(std::string_view parameter) {
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return false;
  const std::string_view weight = parameter.substr(2);
  return weight.starts_with('0') && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

Format format_for(std::string_view accept) {
  while (!accept.empty()) {
    std::string_view range = take_element(accept, ',');
    bool accepted = take_element(range, ';') == "application/openmetrics-text";
    while (!range.empty()) accepted = !is_zero_weight(take_element(range, ';')) && accepted;
    if (accepted) return Format::openmetrics;
  }
  return Format::text;
}

std::string_view content_type(Format format) {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  kind_ = kind;
  name_ = name;
  // The text format of Prometheus has no metric type `info`, and its family names have the suffixes of the samples.
  const bool openmetrics = format_ == Format::openmetrics;
  const std::string title =
      openmetrics ? name_ : fmt::format("{}{}", name_, suffixes.at(static_cast<std::size_t>(kind)));
  const Kind type = kind == Kind::info && !openmetrics ? Kind::gauge : kind;
  page_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", title, escaped(help, openmetrics), title,
                       type_names.at(static_cast<std::size_t>(type)));
}

void Exposition::sample(Labels labels, std::uint64_t value) {
  line(suffixes.at(static_cast<std::size_t>(kind_)), labels, fmt::format("{}", value));
}

void Exposition::sample(Labels labels, double value) {
  line(suffixes.at(static_cast<std::size_t>(kind_)), labels, fmt::format("{}", value));
}

void Exposition::buckets(Labels labels, std::span<const Bucket> buckets, std::uint64_t count,
                         std::optional<double> sum) {
  std::vector<Label> with_bound(labels.begin(), labels.end());
  with_bound.push_back({"le", {}});
  for (const Bucket& bucket : buckets) {
    const std::string upper = bound(bucket.upper);
    with_bound.back().value = upper;
    line("_bucket", with_bound, fmt::format("{}", bucket.count));
  }
  with_bound.back().value = "+Inf";
  line("_bucket", with_bound, fmt::format("{}", count));
  if (!sum) return;
  line("_count", labels, fmt::format("{}", count));
  line("_sum", labels, fmt::format("{}", *sum));
}

std::string Exposition::finish() && {
  if (format_ == Format::openmetrics) page_ += "# EOF\n";
  return std::move(page_);
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view value) {
  page_ += name_;
  page_ += suffix;
  char before = '{';
  for (const Label& label : labels) {
    page_ += fmt::format("{}{}=\"{}\"", before, label.name, escaped(label.value, true));
    before = ',';
  }
  if (!labels.empty()) page_ += '}';
  page_ += fmt::format(" {}\n", value);
}

}  // namespace sluice::metrics
