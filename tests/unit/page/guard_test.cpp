// Tests of the access check of the live page: token, origin and host, against other sites and DNS rebinding.
#include "proxy/ops/http/guard.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::page {
namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

/// Returns a request as the script of the page sends it.
http::Request request() {
  http::Request made;
  made.method = "POST";
  made.host = "127.0.0.1:9838";
  made.origin = "http://127.0.0.1:9838";
  made.fetch_site = "same-origin";
  made.authorization = "Bearer " + token;
  made.from_loopback = true;
  return made;
}

unsigned status(const std::optional<http::Response>& refused) {
  return refused ? refused->status : 200;
}

TEST(Guard, AcceptsTheScriptOfThePage) {
  const Guard guard({token});
  EXPECT_EQ(status(guard.refuse(request())), 200U);
}

TEST(Guard, AcceptsAClientWithoutBrowserHeadersByTheToken) {
  const Guard guard({token});
  http::Request plain = request();
  plain.origin.clear();
  plain.fetch_site.clear();
  EXPECT_EQ(status(guard.refuse(plain)), 200U);
}

TEST(Guard, RefusesEveryOtherToken) {
  const Guard guard({token});
  for (const std::string& given : {std::string(), std::string("Bearer "), "Bearer " + token.substr(1), token,
                                   "Bearer " + token + "0", "Basic " + token}) {
    http::Request asked = request();
    asked.authorization = given;
    EXPECT_EQ(status(guard.refuse(asked)), 401U) << given;
  }
}

TEST(Guard, RefusesOtherMachinesUnlessConfigured) {
  http::Request far = request();
  far.from_loopback = false;
  EXPECT_EQ(status(Guard({token}).refuse(far)), 403U);
  EXPECT_EQ(status(Guard({token}).refuse_stranger(far)), 403U);
  EXPECT_EQ(status(Guard({token, true}).refuse(far)), 200U);
}

TEST(Guard, AcceptsHostsByAddressAndConfiguredName) {
  const Guard guard({token, false, {"Proxy.example"}});
  for (const char* const known :
       {"127.0.0.1", "[::1]:9838", "192.0.2.7:80", "localhost:9838", "LOCALHOST", "proxy.EXAMPLE:9838"}) {
    http::Request asked = request();
    asked.host = known;
    EXPECT_EQ(status(guard.refuse_stranger(asked)), 200U) << known;
  }
  for (const char* const rebound :
       {"", "evil.example:9838", "127.0.0.1.evil.example", "localhost.evil.example", "[evil]", "[::1]evil.example",
        "[::1]:80evil.example", "[127.0.0.1]", "evil@127.0.0.1", "127.0.0.1:80@evil"}) {
    http::Request asked = request();
    asked.host = rebound;
    EXPECT_EQ(status(guard.refuse_stranger(asked)), 421U) << rebound;
    EXPECT_EQ(status(guard.refuse(asked)), 421U) << rebound;
  }
}

TEST(Guard, RefusesRequestsOfAnotherSite) {
  const Guard guard({token});
  for (const char* const origin :
       {"http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1:9838.evil.example"}) {
    http::Request asked = request();
    asked.origin = origin;
    EXPECT_EQ(status(guard.refuse(asked)), 403U) << origin;
  }
  for (const char* const site : {"cross-site", "same-site", "none"}) {
    http::Request asked = request();
    asked.fetch_site = site;
    EXPECT_EQ(status(guard.refuse(asked)), 403U) << site;
  }
}

}  // namespace
}  // namespace sluice::page
