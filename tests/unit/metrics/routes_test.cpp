#include "proxy/metrics/routes.hpp"

#include <gtest/gtest.h>

namespace sluice::metrics {
namespace {

std::string page(Format format) {
  return format == Format::text ? "the text" : "the openmetrics";
}

http::Request request(const std::string& method, const std::string& path) {
  http::Request made;
  made.method = method;
  made.path = path;
  return made;
}

TEST(MetricsRoutes, ServeThePageInTheFormatThatIsAskedFor) {
  http::Request asked = request("GET", "/metrics");
  EXPECT_EQ(answer(asked, page)->body, "the text");
  EXPECT_EQ(answer(asked, page)->type, "text/plain; version=0.0.4; charset=utf-8");
  asked.accept = "application/openmetrics-text";
  EXPECT_EQ(answer(asked, page)->body, "the openmetrics");
  EXPECT_EQ(answer(asked, page)->type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST(MetricsRoutes, SayThatTheProgramAnswers) {
  EXPECT_EQ(answer(request("HEAD", "/health"), page)->body, "ok\n");
}

TEST(MetricsRoutes, AreOnlyRead) {
  const http::Response refused = *answer(request("POST", "/metrics"), page);
  EXPECT_EQ(refused.status, 405U);
  EXPECT_EQ(refused.headers.front(), std::pair(std::string("Allow"), std::string("GET, HEAD")));
}

TEST(MetricsRoutes, LeaveOtherPathsToOthers) {
  EXPECT_FALSE(answer(request("GET", "/"), page));
}

}  // namespace
}  // namespace sluice::metrics
