// Tests of the tables that sluicectl shows for bearers and flows, derived from the JSON answers of the proxy.
#include "proxy/ops/admin/view.hpp"

#include <gtest/gtest.h>

#include "proxy/ops/admin/client.hpp"

namespace sluice::admin {
namespace {

const Json bearer = {{"ue", "255.255.255.255"},
                     {"mode", "ack-regulator"},
                     {"policy", 0},
                     {"flows", 65536},
                     {"steered_by", "feedback"},
                     {"in_flight_bytes", 12'345'678},
                     {"held_bytes", 123'456'789},
                     {"queue_bytes", 50'000},
                     {"queue_delay_ms", 50.0},
                     {"mean_rate_bps", 8e6},
                     {"predicted_error_bytes", 1.25},
                     {"fallbacks", 1000}};

TEST(View, ABearerShowsItsDelayAndFitsATerminal) {
  const Json rows = view_of("bearers", Json::array({bearer}));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["rate_Mbps"], 8.0);
  EXPECT_EQ(rows[0]["queue_kB"], 50.0);
  EXPECT_EQ(rows[0]["delay_ms"], 50.0) << "50 kB at 8 Mb/s";
  EXPECT_FALSE(rows[0].contains("policy"));
  const std::string table = to_table(rows);
  EXPECT_LE(table.find('\n'), 120U) << table;
}

TEST(View, AnUnknownQueueIsNullAndOneByAcknowledgementsIsShown) {
  Json unknown = bearer;
  unknown["queue_bytes"] = nullptr;
  unknown["queue_delay_ms"] = nullptr;
  Json by_acks = bearer;
  by_acks["steered_by"] = "acknowledgements";
  const Json rows = view_of("bearers", Json::array({unknown, by_acks}));
  EXPECT_TRUE(rows[0]["queue_kB"].is_null());
  EXPECT_TRUE(rows[0]["delay_ms"].is_null());
  EXPECT_EQ(rows[1]["queue_kB"], 50.0);
  EXPECT_EQ(rows[1]["delay_ms"], 50.0);
}

TEST(View, WaitingCrossTrafficIsShownIfThereIsAny) {
  Json waiting = bearer;
  waiting["cross_traffic_waiting_bytes"] = 64'000;
  Json idle = bearer;
  idle["cross_traffic_waiting_bytes"] = 0;
  EXPECT_EQ(view_of("bearers", Json::array({idle, waiting}))[1]["waits_kB"], 64.0);
  EXPECT_FALSE(view_of("bearers", Json::array({bearer, idle}))[0].contains("waits_kB"));
}

TEST(View, TheUplinkIsShownIfPacketsWereDroppedOrMarked) {
  Json congested = bearer;
  congested["uplink_wait_ms"] = 87.5;
  congested["uplink_signals"] = 3;
  Json idle = bearer;
  idle["uplink_wait_ms"] = nullptr;
  idle["uplink_signals"] = 0;
  const Json rows = view_of("bearers", Json::array({idle, congested}));
  EXPECT_TRUE(rows[0]["uplink_ms"].is_null());
  EXPECT_EQ(rows[1]["uplink_ms"], 87.5);
  EXPECT_EQ(rows[1]["signals"], 3);
  EXPECT_FALSE(view_of("bearers", Json::array({idle}))[0].contains("signals"));
}

TEST(View, TheLongTermRateIsShownIfItIsKnown) {
  Json known = bearer;
  known["long_term_rate_bps"] = 6'500'000;
  Json unknown = bearer;
  unknown["long_term_rate_bps"] = nullptr;
  const Json rows = view_of("bearers", Json::array({unknown, known}));
  EXPECT_TRUE(rows[0]["long_term_Mbps"].is_null());
  EXPECT_EQ(rows[1]["long_term_Mbps"], 6.5);
  EXPECT_FALSE(view_of("bearers", Json::array({unknown}))[0].contains("long_term_Mbps"));
}

TEST(View, AnObservedBearerShowsWhatTheLawWouldDo) {
  Json observed = bearer;
  observed["observed_window_bytes"] = 20'000;
  observed["observed_delay_ms"] = 12.5;
  Json rows = view_of("bearers", Json::array({bearer, observed}));
  EXPECT_TRUE(rows[0]["would_kB"].is_null());
  EXPECT_EQ(rows[1]["would_kB"], 20.0);
  EXPECT_EQ(rows[1]["would_ms"], 12.5);
  rows = view_of("bearers", Json::array({bearer}));
  EXPECT_FALSE(rows[0].contains("would_kB")) << "nothing is observed";
}

TEST(View, AFlowThatPassesShowsItsReasonAndBytes) {
  const Json flow = {{"ue", "255.255.255.255 65535"},
                     {"server", "255.255.255.255 443"},
                     {"protocol", "udp (QUIC by its port)"},
                     {"passes_for", "udp"},
                     {"bytes", 12'000'000},
                     {"uncertain_bytes", 0},
                     {"rate_bps", 8e6},
                     {"seen_for_s", 12.0},
                     {"last_seen_s", 0.1}};
  const Json rows = view_of("flows", Json::array({flow}));
  EXPECT_EQ(rows[0]["passes_for"], "udp");
  EXPECT_EQ(rows[0]["about_MB"], 12.0);
  EXPECT_EQ(rows[0]["rate_Mbps"], 8.0);
  const std::string table = to_table(rows);
  EXPECT_LE(table.find('\n'), 120U) << table;
}

TEST(View, AFlowFitsATerminal) {
  const Json flow = {{"ue", "255.255.255.255 65535"}, {"server", "255.255.255.255 65535"},
                     {"phase", "handing back"},       {"reason", "released_earlier_run"},
                     {"radio_state", "established"},  {"radio_srtt_ms", 1234.567},
                     {"core_srtt_ms", 0.001},         {"radio_in_flight_bytes", 9'999'000},
                     {"radio_held_bytes", 9'999'000}, {"radio_retransmissions", 1'000'000}};
  const std::string table = to_table(view_of("flows", Json::array({flow})));
  EXPECT_LE(table.find('\n'), 120U) << table;
  EXPECT_NE(table.find("1234.567"), std::string::npos) << table;
}

TEST(View, AFlowShowsTheReasonOfItsReleaseOrReset) {
  const auto state_of = [](const char* phase, const char* reason) {
    const Json flow = {{"ue", "10.0.0.1 1"}, {"phase", phase}, {"radio_state", "established"}, {"reason", reason}};
    return view_of("flows", Json::array({flow}))[0]["state"];
  };
  EXPECT_EQ(state_of("split", ""), "established");
  EXPECT_EQ(state_of("handing back", "released_drain"), "drain");
  EXPECT_EQ(state_of("released", "released_unsplittable"), "unsplittable");
  EXPECT_EQ(state_of("split", "reset_stalled"), "reset_stalled");
}

TEST(View, MissingValuesAreNull) {
  const Json rows = view_of("flows", Json::array({Json{{"ue", "10.0.0.1 1"}}}));
  EXPECT_TRUE(rows[0]["radio_ms"].is_null());
}

TEST(View, OtherAnswersAreUnchanged) {
  const Json list = Json::array({{{"group", "treated"}}});
  EXPECT_EQ(view_of("groups", list), list);
  EXPECT_EQ(view_of("bearers", Json::array()), Json::array());
  EXPECT_EQ(view_of("bearers", "none of that"), "none of that");
  EXPECT_EQ(view_of("flows", Json::array({1, 2})), Json::array({1, 2}));
}

}  // namespace
}  // namespace sluice::admin
