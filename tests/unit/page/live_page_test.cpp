// Tests of the live page: its routes, its event stream and the switch of modes.
#include "proxy/ops/http/live_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "proxy/ops/http/page_text.hpp"

namespace sluice::page {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string token = "0123456789abcdef0123456789abcdef";

class Page : public testing::Test {
 protected:
  /// Returns a request as the script of the page sends it.
  static http::Request request(const std::string& method, const std::string& path, const std::string& body = {}) {
    http::Request made;
    made.method = method;
    made.path = path;
    made.host = "localhost";
    made.authorization = "Bearer " + token;
    made.body = body;
    made.from_loopback = true;
    return made;
  }
  static http::Response response(std::optional<http::HttpServer::Reply> reply) {
    return std::get<http::Response>(reply.value());
  }
  http::Response posted(const std::string& mode) { return response(page_.answer(request("POST", "/mode", mode))); }

  std::vector<std::string> switched_;
  boost::asio::io_context context_;
  LivePage page_{context_,
                 {token},
                 {[](const std::function<void(const std::string&)>& take) { take("{}"); },
                  [this](const std::string& mode) {
                    switched_.push_back(mode);
                    return mode == "wrong" ? std::optional<std::string>("no such mode") : std::nullopt;
                  }}};
};

TEST_F(Page, IsShownWithoutAToken) {
  http::Request asked = request("GET", "/");
  asked.authorization.clear();
  const http::Response shown = response(page_.answer(asked));
  EXPECT_EQ(shown.status, 200U);
  EXPECT_EQ(shown.body, page_text);
}

TEST_F(Page, MayRunItsOwnScriptAndNothingElse) {
  const http::Response shown = response(page_.answer(request("GET", "/")));
  const auto policy = std::find_if(shown.headers.begin(), shown.headers.end(),
                                   [](const auto& header) { return header.first == "Content-Security-Policy"; });
  ASSERT_NE(policy, shown.headers.end());
  EXPECT_THAT(policy->second, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(policy->second, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy->second, Not(HasSubstr("unsafe")));
}

TEST_F(Page, LoadsNothingFromOtherSites) {
  for (const char* const outside : {"src=\"http", "href=\"http", "@import", "url(", " onclick=", " style=\""}) {
    EXPECT_EQ(page_text.find(outside), std::string_view::npos) << outside;
  }
}

TEST_F(Page, RevealsNothingWithoutTheToken) {
  for (const char* const path : {"/events", "/history", "/mode"}) {
    http::Request asked = request(path == std::string("/mode") ? "POST" : "GET", path, "smvs");
    asked.authorization.clear();
    EXPECT_EQ(response(page_.answer(asked)).status, 401U);
  }
  EXPECT_THAT(switched_, ElementsAre());
}

TEST_F(Page, ServesTheHistoryIfOneIsKept) {
  EXPECT_EQ(response(page_.answer(request("GET", "/history"))).status, 404U);
  LivePage keeps(context_, {token}, {[](const auto&) {}, {}, [] { return std::string("{\"rows\":[]}"); }});
  const http::Response shown = response(keeps.answer(request("GET", "/history")));
  EXPECT_EQ(shown.status, 200U);
  EXPECT_EQ(shown.type, "application/json");
  EXPECT_EQ(shown.body, "{\"rows\":[]}");
  EXPECT_EQ(response(keeps.answer(request("POST", "/history"))).status, 405U);
}

TEST_F(Page, AnswersWithAnEventStream) {
  EXPECT_TRUE(std::holds_alternative<http::EventStream*>(page_.answer(request("GET", "/events")).value()));
  EXPECT_EQ(response(page_.answer(request("HEAD", "/events"))).status, 405U);
}

TEST_F(Page, SwitchesTheModeAndReportsErrors) {
  EXPECT_EQ(posted("wrb regulate").status, 200U);
  const http::Response refused = posted("wrong");
  EXPECT_EQ(refused.status, 400U);
  EXPECT_EQ(refused.body, "no such mode\n");
  EXPECT_THAT(switched_, ElementsAre("wrb regulate", "wrong"));
}

TEST_F(Page, RefusesUnknownModes) {
  for (const std::string& body :
       {std::string(), std::string("smvs\nlogging: off"), std::string("{}"), std::string(65, 'a')})
    EXPECT_EQ(posted(body).status, 400U) << body;
  EXPECT_EQ(response(page_.answer(request("GET", "/mode"))).status, 405U);
  EXPECT_THAT(switched_, ElementsAre());
}

TEST_F(Page, DoesNotSwitchIfReadOnly) {
  LivePage only_shows(context_, {token}, {[](const std::function<void(const std::string&)>&) {}, {}});
  EXPECT_EQ(response(only_shows.answer(request("POST", "/mode", "smvs"))).status, 404U);
}

TEST_F(Page, IgnoresOtherPaths) {
  EXPECT_FALSE(page_.answer(request("GET", "/metrics")));
}

}  // namespace
}  // namespace sluice::page
