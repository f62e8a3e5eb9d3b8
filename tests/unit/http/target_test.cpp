#include "proxy/ops/http/target.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

TEST(Authority, IsAHostWithAnOptionalPort) {
  struct Case {
    const char* text;
    const char* host;
    const char* port;
  };
  for (const auto& [text, host, port] :
       {Case{"", "", ""}, Case{"LocalHost", "localhost", ""}, Case{"127.0.0.1:9838", "127.0.0.1", "9838"},
        Case{"[::1]", "::1", ""}, Case{"[FE80::1]:80", "fe80::1", "80"},
        Case{"a_b%2D~.example:", "a_b%2d~.example", ""}}) {
    const auto read = read_authority(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->host, host);
    EXPECT_EQ(read->port, port);
  }
}

TEST(Authority, RefusesOtherForms) {
  for (const std::string_view text : {"[::1]evil.example",
                                      "[::1]evil:80",
                                      "[::1",
                                      "::1",
                                      "[]",
                                      "[127.0.0.1]",
                                      "[evil]",
                                      "[fe80::1%eth0]",
                                      "[v1.x]",
                                      "user@h",
                                      "h:80:80",
                                      "h:x",
                                      "h:-1",
                                      "h:123456",
                                      "h evil",
                                      "h/",
                                      "h,\te",
                                      "h%2",
                                      "h%zz",
                                      "\xc3\xa4",
                                      "[::1]]:80"}) {
    EXPECT_FALSE(read_authority(text)) << text;
  }
  EXPECT_FALSE(read_authority(std::string_view("h\0x", 3)));
}

TEST(Target, IsInOriginAsteriskOrAbsoluteForm) {
  EXPECT_EQ(read_target("/metrics?a=/b")->path, "/metrics");
  EXPECT_EQ(read_target("/metrics")->authority, "");
  EXPECT_EQ(read_target("*")->path, "*");
  EXPECT_EQ(read_target("//evil/x")->path, "//evil/x") << "an origin form, whatever its path resembles";
  const auto absolute = read_target("hTTp://H:1/a?b");
  ASSERT_TRUE(absolute);
  EXPECT_EQ(absolute->path, "/a");
  EXPECT_EQ(absolute->authority, "H:1");
  EXPECT_EQ(read_target("http://h")->path, "/");
  EXPECT_EQ(read_target("http://h?x/y")->path, "/");
}

TEST(Target, RefusesOtherForms) {
  for (const char* const text : {"", "h:80", "metrics", "http:/h/", "http://", "http:///x", "http://?x", "https://h/",
                                 "ftp://h/", "http://u@h/", "http://h#x", "/x#y"}) {
    EXPECT_FALSE(read_target(text)) << text;
  }
}

}  // namespace
}  // namespace sluice::http
