#include "proxy/daemon/status/routes.hpp"

#include <gtest/gtest.h>

namespace sluice::metrics {
namespace {

std::string page(Format format) {
  return format == Format::text ? "the text" : "the openmetrics";
}

bool works() {
  return true;
}

http::Request request(const std::string& method, const std::string& path) {
  http::Request made;
  made.method = method;
  made.path = path;
  return made;
}

TEST(MetricsRoutes, ServeThePageInTheRequestedFormat) {
  http::Request asked = request("GET", "/metrics");
  EXPECT_EQ(answer(asked, page, works)->body, "the text");
  EXPECT_EQ(answer(asked, page, works)->type, "text/plain; version=0.0.4; charset=utf-8");
  asked.accept = "application/openmetrics-text";
  EXPECT_EQ(answer(asked, page, works)->body, "the openmetrics");
  EXPECT_EQ(answer(asked, page, works)->type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST(MetricsRoutes, ReportTheHealthOfTheProgram) {
  const http::Response good = *answer(request("HEAD", "/health"), page, works);
  EXPECT_EQ(good.status, 200U);
  EXPECT_EQ(good.body, "ok\n");
  const http::Response bad = *answer(request("GET", "/health"), page, [] { return false; });
  EXPECT_EQ(bad.status, 503U);
  EXPECT_EQ(bad.body, "a shard is stalled\n");
}

TEST(MetricsRoutes, RefuseOtherMethods) {
  const http::Response refused = *answer(request("POST", "/metrics"), page, works);
  EXPECT_EQ(refused.status, 405U);
  EXPECT_EQ(refused.headers.front(), std::pair(std::string("Allow"), std::string("GET, HEAD")));
}

TEST(MetricsRoutes, IgnoreOtherPaths) {
  EXPECT_FALSE(answer(request("GET", "/"), page, works));
}

}  // namespace
}  // namespace sluice::metrics
