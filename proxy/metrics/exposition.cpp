#include "proxy/metrics/exposition.hpp"

#include <fmt/format.h>

#include <array>

namespace sluice::metrics {
namespace {

constexpr std::array<std::string_view, 4> suffixes{"_total", "", "_info", ""};                  // by Kind
constexpr std::array<std::string_view, 4> type_names{"counter", "gauge", "info", "histogram"};  // by Kind

/// Backslashes, line ends and quotation marks as both formats have them.
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

}  // namespace

Format format_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? Format::text : Format::openmetrics;
}

std::string_view content_type(Format format) {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  kind_ = kind;
  name_ = name;
  // The older format knows no kind info, and names a family as its samples.
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

void Exposition::buckets(std::span<const Bucket> buckets, std::uint64_t count) {
  for (const Bucket& bucket : buckets) {
    // OpenMetrics wants bounds with a decimal point.
    const std::string upper = fmt::format("{}.0", bucket.upper);
    const Label bound{"le", upper};
    line("_bucket", {&bound, 1}, fmt::format("{}", bucket.count));
  }
  const Label all{"le", "+Inf"};
  line("_bucket", {&all, 1}, fmt::format("{}", count));
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
