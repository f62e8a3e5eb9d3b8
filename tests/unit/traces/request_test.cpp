#include "proxy/ops/decision_log/request.hpp"

#include <gmock/gmock.h>

namespace sluice::tracing {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Request read(const std::vector<std::string>& words) {
  const auto parsed = Request::parse(words);
  EXPECT_TRUE(std::holds_alternative<Request>(parsed)) << std::get<std::string>(parsed);
  return std::get<Request>(parsed);
}

std::string problem(const std::vector<std::string>& words) {
  const auto parsed = Request::parse(words);
  const auto* const text = std::get_if<std::string>(&parsed);
  return text != nullptr ? *text : "none";
}

TEST(TraceRequest, NamesAUeOrOneOfItsPorts) {
  EXPECT_EQ(read({"10.0.0.2"}).selection.ue, IpAddress::v4(10, 0, 0, 2));
  EXPECT_FALSE(read({"10.0.0.2"}).selection.ue_port);
  EXPECT_EQ(read({"10.0.0.2:4000"}).selection.ue, IpAddress::v4(10, 0, 0, 2));
  EXPECT_EQ(read({"10.0.0.2:4000"}).selection.ue_port, 4000);
  EXPECT_EQ(read({"2001:db8::2"}).selection.ue, IpAddress::parse("2001:db8::2"));
  EXPECT_FALSE(read({"2001:db8::2"}).selection.ue_port);
  EXPECT_EQ(read({"[2001:db8::2]:4000"}).selection.ue, IpAddress::parse("2001:db8::2"));
  EXPECT_EQ(read({"[2001:db8::2]:4000"}).selection.ue_port, 4000);
}

TEST(TraceRequest, MayEndByTimeOrByLines) {
  const Request request = read({"10.0.0.2", "--lines", "5", "--seconds", "0.5"});
  EXPECT_EQ(request.lines, 5U);
  EXPECT_EQ(request.duration, 500ms);
  EXPECT_FALSE(read({"10.0.0.2"}).lines);
  EXPECT_FALSE(read({"10.0.0.2"}).duration);
}

TEST(TraceRequest, NamesErrors) {
  for (const char* const word : {"", "ue", "10.0.0.2:", "10.0.0.2:0", "10.0.0.2:65536", "[10.0.0.2]:1", "[2001:db8::2]",
                                 ":1", "[]:1", "10.0.0.2:+1"})
    EXPECT_THAT(problem({word}), HasSubstr("name a UE")) << word;
  EXPECT_THAT(problem({}), HasSubstr("name a UE"));
  EXPECT_EQ(problem({"10.0.0.2", "--all", "1"}), "trace has no argument --all");
  EXPECT_EQ(problem({"10.0.0.2", "--lines"}), "--lines needs a value");
  EXPECT_THAT(problem({"10.0.0.2", "--lines", "0"}), HasSubstr("from 1 on"));
  EXPECT_THAT(problem({"10.0.0.2", "--lines", "-1"}), HasSubstr("from 1 on"));
  EXPECT_THAT(problem({"10.0.0.2", "--seconds", "nan"}), HasSubstr("more than 0"));
  EXPECT_EQ(problem({"10.0.0.2", "--seconds", "1", "--seconds", "2"}), "--seconds is given twice");
}

TEST(TraceRequest, TheEndsOfRangesAreAllowed) {
  EXPECT_EQ(read({"10.0.0.2:65535"}).selection.ue_port, 65535);
  EXPECT_EQ(read({"10.0.0.2:1", "--lines", "1"}).lines, 1U);
  EXPECT_EQ(read({"10.0.0.2", "--seconds", "86400"}).duration, 24h);
  EXPECT_THAT(problem({"10.0.0.2", "--seconds", "86401"}), HasSubstr("up to 86400"));
  EXPECT_THAT(problem({"10.0.0.2", "--seconds", "0"}), HasSubstr("more than 0"));
  EXPECT_EQ(problem({"10.0.0.2", "--lines", "1", "--lines", "2"}), "--lines is given twice");
}

}  // namespace
}  // namespace sluice::tracing
