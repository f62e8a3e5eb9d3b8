// Tests of the Prometheus text formats and of the choice between them.
#include "proxy/daemon/status/exposition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace sluice::metrics {
namespace {

std::string page_of_each_kind(Format format) {
  Exposition page(format);
  page.family("a_b", Kind::counter, "counts \"b\"");
  page.sample({{"port", "radio"}, {"reason", "odd \\ \"one\"\n"}}, std::uint64_t{18'446'744'073'709'551'615U});
  page.family("a_level_seconds", Kind::gauge, "a level");
  page.sample({}, 0.25);
  page.family("a_build", Kind::info, "the program");
  page.sample({{"version", "1"}}, std::uint64_t{1});
  page.family("a_size_bytes", Kind::histogram, "sizes");
  page.buckets({}, std::array{Bucket{1023, 2}, Bucket{4095, 5}}, 6, std::nullopt);
  page.family("a_time_seconds", Kind::histogram, "times");
  const Label who{"who", "me"};
  page.buckets({&who, 1}, std::array{Bucket{0.001, 1}, Bucket{2, 3}}, 4, 7.5);
  return std::move(page).finish();
}

TEST(Exposition, WritesOpenMetrics) {
  EXPECT_EQ(page_of_each_kind(Format::openmetrics), R"(# HELP a_b counts \"b\"
# TYPE a_b counter
a_b_total{port="radio",reason="odd \\ \"one\"\n"} 18446744073709551615
# HELP a_level_seconds a level
# TYPE a_level_seconds gauge
a_level_seconds 0.25
# HELP a_build the program
# TYPE a_build info
a_build_info{version="1"} 1
# HELP a_size_bytes sizes
# TYPE a_size_bytes histogram
a_size_bytes_bucket{le="1023.0"} 2
a_size_bytes_bucket{le="4095.0"} 5
a_size_bytes_bucket{le="+Inf"} 6
# HELP a_time_seconds times
# TYPE a_time_seconds histogram
a_time_seconds_bucket{who="me",le="0.001"} 1
a_time_seconds_bucket{who="me",le="2.0"} 3
a_time_seconds_bucket{who="me",le="+Inf"} 4
a_time_seconds_count{who="me"} 4
a_time_seconds_sum{who="me"} 7.5
# EOF
)");
}

TEST(Exposition, WritesTheOlderTextFormat) {
  EXPECT_EQ(page_of_each_kind(Format::text), R"(# HELP a_b_total counts "b"
# TYPE a_b_total counter
a_b_total{port="radio",reason="odd \\ \"one\"\n"} 18446744073709551615
# HELP a_level_seconds a level
# TYPE a_level_seconds gauge
a_level_seconds 0.25
# HELP a_build_info the program
# TYPE a_build_info gauge
a_build_info{version="1"} 1
# HELP a_size_bytes sizes
# TYPE a_size_bytes histogram
a_size_bytes_bucket{le="1023.0"} 2
a_size_bytes_bucket{le="4095.0"} 5
a_size_bytes_bucket{le="+Inf"} 6
# HELP a_time_seconds times
# TYPE a_time_seconds histogram
a_time_seconds_bucket{who="me",le="0.001"} 1
a_time_seconds_bucket{who="me",le="2.0"} 3
a_time_seconds_bucket{who="me",le="+Inf"} 4
a_time_seconds_count{who="me"} 4
a_time_seconds_sum{who="me"} 7.5
)");
}

TEST(Exposition, AClientThatAcceptsOpenMetricsGetsIt) {
  EXPECT_EQ(format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"), Format::openmetrics);
  EXPECT_EQ(format_for("text/plain"), Format::text);
  EXPECT_EQ(format_for(""), Format::text);
}

TEST(Exposition, AClientThatDoesNotAcceptOpenMetricsGetsText) {
  EXPECT_EQ(format_for("application/openmetrics-text;q=0, text/plain"), Format::text);
  EXPECT_EQ(format_for("application/openmetrics-text; version=1.0.0 ; q=0.000"), Format::text);
  EXPECT_EQ(format_for("text/plain;q=0 , application/openmetrics-text ;q=0.01"), Format::openmetrics);
  EXPECT_EQ(format_for("application/openmetrics-text-of-mine"), Format::text);
  EXPECT_EQ(format_for(";;,;q=0,,"), Format::text);
}

}  // namespace
}  // namespace sluice::metrics
