// Tests of sluicectl top: rates between two snapshots, sorting and terminal output.
#include "proxy/ops/sluicectl/top.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::sluicectl {
namespace {

using admin::Json;
using testing::HasSubstr;
using testing::Not;

Json bearer(const std::string& ue, std::uint64_t injected, double queue, double rate) {
  return {{"ue", ue},
          {"mode", "smvs"},
          {"policy", 0},
          {"steered_by", "feedback"},
          {"flows", 1},
          {"injected_bytes", injected},
          {"queue_bytes", queue},
          {"queue_delay_ms", rate > 0 ? Json(queue * 8000 / rate) : Json()},
          {"mean_rate_bps", rate},
          {"in_flight_bytes", 2000},
          {"held_bytes", 3000}};
}

Json flow(const std::string& ue, const Json& sent) {
  return {{"ue", ue},
          {"server", "192.0.2.1 80"},
          {"phase", "split"},
          {"radio_sent_bytes", sent},
          {"radio_held_bytes", 5000},
          {"radio_in_flight_bytes", 2000},
          {"radio_srtt_ms", 40.5},
          {"radio_retransmissions", 2}};
}

Look look(double time_s, const Json& bearers, const Json& flows) {
  return {time_s, {{"mode", "smvs"}, {"bearers", bearers.size()}, {"flows", flows.size()}}, bearers, flows};
}

TEST(Top, RatesAreBytesSentBetweenTwoSnapshots) {
  const Look before = look(10, Json::array({bearer("a", 1000, 0, 8e6)}), Json::array({flow("a 1", 500)}));
  const Look now = look(12, Json::array({bearer("a", 3000, 0, 8e6)}), Json::array({flow("a 1", 1500)}));
  const Json top = top_of(before, now, Order::rate);
  EXPECT_EQ(top["bearers"][0]["rate_bps"], 8000);
  EXPECT_EQ(top["flows"][0]["rate_bps"], 4000);
  EXPECT_EQ(top["flows"][0]["queue_bytes"], 3000);
  EXPECT_EQ(top["interval_s"], 2);
}

TEST(Top, TheRateOfABearerWithoutCountersSumsItsConnections) {
  const Look before = look(1, Json::array({bearer("a", 0, 0, 8e6)}), {flow("a 1", 0), flow("a 2", 0), flow("b 1", 0)});
  const Look now =
      look(2, Json::array({bearer("a", 0, 0, 8e6)}), {flow("a 1", 500), flow("a 2", 250), flow("b 1", 99)});
  EXPECT_EQ(top_of(before, now, Order::rate)["bearers"][0]["rate_bps"], 6000);
}

TEST(Top, NewEntriesHaveNoRate) {
  const Look before = look(1, Json::array(), Json::array({flow("a 1", nullptr)}));
  const Look now = look(2, Json::array({bearer("new", 3000, 0, 8e6)}), {flow("a 1", nullptr), flow("b 1", 700)});
  const Json top = top_of(before, now, Order::rate);
  EXPECT_EQ(top["bearers"][0]["rate_bps"], nullptr);
  EXPECT_EQ(top["flows"][0]["rate_bps"], nullptr);
  EXPECT_EQ(top["flows"][1]["rate_bps"], nullptr);
}

TEST(Top, TheLargestComesFirst) {
  const Json bearers = {bearer("slow", 2000, 90'000, 80e6), bearer("fast", 9000, 100, 8e6),
                        bearer("late", 3000, 50'000, 8e6)};
  Json none = bearers;
  for (Json& each : none) each["injected_bytes"] = 0;
  const auto first_by = [&](Order order) {
    return top_of(look(1, none, Json::array()), look(2, bearers, Json::array()), order)["bearers"][0]["ue"];
  };
  EXPECT_EQ(first_by(Order::rate), "fast");
  EXPECT_EQ(first_by(Order::queue), "slow");
  EXPECT_EQ(first_by(Order::delay), "late");
}

TEST(Top, AQueueAndItsDelayAreAsTheProgramKnowsThem) {
  Json unknown = bearer("a", 0, 0, 8e6);
  unknown["queue_bytes"] = nullptr;
  unknown["queue_delay_ms"] = nullptr;
  const Look now = look(2, {unknown, bearer("b", 0, 20'000, 8e6)}, Json::array());
  const Json rows = top_of(now, now, Order::queue)["bearers"];
  EXPECT_EQ(rows[0]["queue_bytes"], 20'000);
  EXPECT_EQ(rows[0]["delay_ms"], 20);
  EXPECT_EQ(rows[1]["queue_bytes"], nullptr);
  EXPECT_EQ(rows[1]["delay_ms"], nullptr);
}

TEST(Top, FitsTheTerminal) {
  Json bearers = Json::array();
  Json flows = Json::array();
  for (int i = 0; i < 50; ++i) {
    bearers.push_back(bearer("ue" + std::to_string(i), 0, 0, 8e6));
    flows.push_back(flow("ue" + std::to_string(i) + " 1", i));
  }
  const Look now = look(2, bearers, flows);
  const auto lines = [&](std::optional<std::size_t> rows) {
    const std::string text = to_text(top_of(now, now, Order::rate), rows);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_LE(lines(24), 24);
  EXPECT_GT(lines(24), 20);
  EXPECT_GT(lines(std::nullopt), 100);
}

TEST(Top, StatesThatThereAreNoBearersAndFlows) {
  const Look idle = look(2, Json::array(), Json::array());
  EXPECT_THAT(to_text(top_of(idle, idle, Order::rate), std::nullopt), HasSubstr("\nno bearers\n\nno flows\n"));
}

TEST(Top, ControlCharactersAreEscaped) {
  const Look now = look(2, Json::array({bearer("\x1b[2J", 0, 0, 8e6)}), Json::array());
  EXPECT_THAT(to_text(top_of(now, now, Order::rate), std::nullopt), Not(HasSubstr("\x1b")));
}

TEST(Top, AcceptsAnInvalidAnswer) {
  const Look odd{1, nullptr, {1, "x", nullptr}, {{{"ue", 3}, {"radio_sent_bytes", "many"}}}};
  EXPECT_THAT(to_text(top_of(odd, odd, Order::rate), 10), HasSubstr("mode"));
}

TEST(Top, ParsesItsSortOrders) {
  EXPECT_EQ(parse_order("delay"), Order::delay);
  EXPECT_FALSE(parse_order("size"));
}

TEST(Top, TheSharesOfTheTrafficAreThoseOfTheInterval) {
  Look before = look(1, Json::array(), Json::array());
  Look now = look(2, Json::array(), Json::array());
  EXPECT_TRUE(top_of(before, now, Order::rate)["traffic"].is_null()) << "a program that does not count them";
  before.status["traffic"] = {{"controlled_bytes", 1000}, {"split_bytes", 500}, {"passed_bytes", 100}};
  now.status["traffic"] = {{"controlled_bytes", 1600}, {"split_bytes", 500}, {"passed_bytes", 300}};
  const Json top = top_of(before, now, Order::rate);
  EXPECT_EQ(top["traffic"]["controlled"], 75.0);
  EXPECT_EQ(top["traffic"]["split"], 0.0);
  EXPECT_EQ(top["traffic"]["passed"], 25.0);
  EXPECT_NE(to_text(top, std::nullopt).find("bytes: 75.0 % controlled, 0.0 % split, 25.0 % passed\n"),
            std::string::npos);
  EXPECT_TRUE(top_of(now, now, Order::rate)["traffic"].is_null()) << "nothing came";
}

}  // namespace
}  // namespace sluice::sluicectl
