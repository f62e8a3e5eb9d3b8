// A run ends without a word. The next one resets the connections that lost bytes, and leaves all others alone.

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::CrashedConnection;
using proxy::JournalEntry;
using proxy::RecoveredConnection;
using proxy::Side;
using tcp::Flags;

constexpr Duration keep = std::chrono::minutes(10);

/// Two runs of a shard over the same journal.
class ShardCrashedConnections : public testing::Test {
 protected:
  [[nodiscard]] std::size_t entries(std::uint32_t state) const {
    return static_cast<std::size_t>(
        std::count_if(journal.begin(), journal.end(), [&](const JournalEntry& entry) { return entry.state == state; }));
  }
  [[nodiscard]] bool exposed() const { return entries(JournalEntry::exposed) == 1; }
  [[nodiscard]] bool even() const { return entries(JournalEntry::even) == 1; }
  /// Ends the first run like a kill, and begins the second with the entries of the journal.
  void restart() {
    const Instant now = lab->now;
    std::vector<CrashedConnection> crashed_connections;
    for (const JournalEntry& entry : journal) {
      const auto crashed = proxy::read(entry);
      if (crashed && entry.state == JournalEntry::exposed) crashed_connections.push_back(*crashed);
    }
    for (const CrashedConnection& crashed : crashed_connections) left.push_back(proxy::to_entry(crashed));
    lab.emplace(shard_config());
    lab->now = now;
    hosts.emplace(*lab);
    lab->shard.inherit(crashed_connections, left, keep);
    lab->shard.advance(lab->now);
  }
  /// The second run takes up what the first one has not lost.
  void restart_without_loss() {
    const Instant now = lab->now;
    std::vector<RecoveredConnection> recovered;
    for (const JournalEntry& entry : journal) {
      if (const auto connection = proxy::read_recovered(entry)) recovered.push_back(*connection);
    }
    lab.emplace(shard_config());
    lab->now = now;
    hosts.emplace(*lab);
    lab->shard.adopt_recovered(recovered, {now - std::chrono::seconds(1), now});
  }
  [[nodiscard]] std::uint64_t split_again() const { return lab->count(Counter::flows_split_again); }
  /// Both segments have come, the second one's acknowledgement has gone: the UE has nothing of them.
  void expose() {
    hosts->open();
    hosts->server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
    hosts->server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
    lab->forget_output();
  }
  [[nodiscard]] std::uint32_t first_to(Side out) const {
    return (out == Side::radio ? hosts->server_isn : hosts->ue_isn).raw() + 1;
  }
  /// A challenge to the host behind `out`: it acknowledges nothing new and cannot be taken.
  void expect_challenge(Side out) {
    const auto seen = lab->next(out);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->segment().flags.bits, Flags::ack_bit);
    EXPECT_EQ(seen->segment().seq.raw(), first_to(out) - 1);
    EXPECT_TRUE(seen->checksum_good);
    EXPECT_TRUE(seen->segment().has_timestamps);
    const auto ue = hosts->ue_to_server;
    EXPECT_EQ(packet::addresses_of(seen->parsed), out == Side::radio ? ue.reversed() : ue);
    const auto& destination = out == Side::radio ? ScriptedHosts::ue_mac : ScriptedHosts::server_mac;
    EXPECT_TRUE(std::equal(destination.begin(), destination.end(), seen->frame.begin()));
  }
  void expect_challenge_of_the_other_half(Side out) {
    const auto seen = lab->next(out);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->segment().seq.raw(), first_to(out) - 1 + (1U << 31U));
  }
  void expect_reset(Side out, std::uint32_t offset) {
    const auto seen = lab->next(out);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->segment().flags.rst());
    EXPECT_TRUE(seen->checksum_good);
    EXPECT_EQ(seen->segment().seq.raw(), first_to(out) + offset);
  }

  std::array<JournalEntry, 64> journal{};
  std::vector<JournalEntry> left;  ///< the second run's, of the first one's crashed connections
  std::optional<ProxyLab> lab{std::in_place, shard_config(), proxy::FlowJournal(journal)};
  std::optional<ScriptedHosts> hosts{std::in_place, *lab};
};

TEST_F(ShardCrashedConnections, TheJournalRecordsExposedConnections) {
  hosts->send_syn();
  hosts->send_syn_ack();
  EXPECT_EQ(entries(JournalEntry::unused), journal.size()) << "a handshake is its hosts' own";
  hosts->ue(Flags::ack_bit, 0, 0);
  EXPECT_TRUE(even());
  hosts->server(Flags::ack_bit, 0, 0, "data");
  EXPECT_TRUE(exposed());
  hosts->ue(Flags::ack_bit, 0, 4);
  EXPECT_TRUE(even());
  hosts->ue(Flags::ack_bit | Flags::fin_bit, 0, 4);
  EXPECT_TRUE(exposed()) << "a FIN counts as much";
  hosts->server(Flags::ack_bit, 4, 1);
  EXPECT_TRUE(even());
  hosts->server(Flags::ack_bit | Flags::fin_bit, 4, 1);
  EXPECT_TRUE(exposed());
  hosts->ue(Flags::ack_bit, 1, 5);
  lab->pass_time(std::chrono::minutes(1));
  EXPECT_EQ(lab->shard.flow_count(), 0U);
  EXPECT_EQ(entries(JournalEntry::unused), journal.size());
}

TEST_F(ShardCrashedConnections, TheJournalIsWrittenBeforeTheAck) {
  hosts->open();
  hosts->server(Flags::ack_bit, 0, 0, "this one's acknowledgement waits");
  EXPECT_TRUE(lab->silent(Side::core));
  EXPECT_TRUE(exposed());
}

TEST_F(ShardCrashedConnections, NothingIsExposedWithACapOfZero) {
  proxy::ShardConfig config = shard_config();
  config.limits.exposure_per_flow = Bytes(0);
  lab.emplace(config, proxy::FlowJournal(journal));
  hosts.emplace(*lab);
  expose();
  EXPECT_TRUE(even());
  hosts->ue(Flags::ack_bit, 0, 1000);
  EXPECT_TRUE(even());
}

TEST_F(ShardCrashedConnections, AConnectionThatAStopResetsRemainsInTheJournal) {
  expose();
  lab->shard.abort_all();
  lab->shard.advance(lab->now);
  EXPECT_EQ(lab->count(Counter::flows_reset_by_stop), 1U);
  EXPECT_TRUE(exposed()) << "both resets may be lost";
  lab->forget_output();
  restart();
  expect_challenge(Side::radio);
  expect_challenge(Side::core);
  hosts->ue(Flags::ack_bit, 0, 1000);
  expect_reset(Side::radio, 1000);
}

TEST_F(ShardCrashedConnections, AConnectionThatContinuesAfterAStopIsRemovedFromTheJournal) {
  hosts->open();
  lab->shard.abort_all();
  lab->shard.advance(lab->now);
  EXPECT_EQ(entries(JournalEntry::unused), journal.size());
}

TEST_F(ShardCrashedConnections, AReleasedConnectionIsRemovedFromTheJournal) {
  hosts->open();
  lab->shard.release({}, lab->now);
  lab->pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(entries(JournalEntry::unused), journal.size());
}

/// Its hosts have meanwhile sent an unknown number of bytes.
TEST_F(ShardCrashedConnections, AConnectionWithoutLossIsSplitAgainOnceBothHostsAgree) {
  hosts->open();
  restart_without_loss();
  hosts->server(Flags::ack_bit, 700'000, 30'000, std::string(500, 'a'));
  hosts->ue(Flags::ack_bit, 30'000, 700'500);
  lab->pass_time(std::chrono::seconds(11));
  lab->forget_output();
  hosts->ue(Flags::ack_bit, 30'000, 700'500, "a question");
  EXPECT_EQ(split_again(), 1U);
  const auto data = lab->next(Side::core);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "a question");
  EXPECT_EQ(data->segment().seq, hosts->ue_isn + 30'001);
  EXPECT_EQ(data->segment().ack, hosts->server_isn + 700'501);
}

/// Segments lost while no proxy ran must still be retransmitted, and the other host may already have what follows
/// them.
TEST_F(ShardCrashedConnections, AConnectionIsSplitAgainOnlyAfterPossibleRetransmissions) {
  hosts->open();
  restart_without_loss();
  lab->pass_time(std::chrono::seconds(20));
  hosts->server(Flags::ack_bit, 2000, 0, std::string(500, 'a'));
  hosts->ue(Flags::ack_bit, 0, 2500);
  lab->pass_time(std::chrono::seconds(41));
  hosts->server(Flags::ack_bit, 2500, 0, std::string(500, 'b'));
  EXPECT_EQ(split_again(), 0U) << "a repetition after 20 s is followed by the next after 40 s";
  hosts->ue(Flags::ack_bit, 0, 3000);
  lab->pass_time(std::chrono::seconds(125));
  hosts->server(Flags::ack_bit, 3000, 0, std::string(500, 'c'));
  EXPECT_EQ(split_again(), 1U);
}

TEST_F(ShardCrashedConnections, ForgedSegmentsOfOneSideSplitNothing) {
  hosts->open();
  restart_without_loss();
  for (std::uint32_t i = 0; i < 20; ++i) hosts->server(Flags::ack_bit, 1'000'000 * i, 77 * i, "forged");
  hosts->ue(Flags::ack_bit, 10, 20);
  lab->pass_time(std::chrono::seconds(11));
  hosts->ue(Flags::ack_bit, 10, 20, "true");
  EXPECT_EQ(split_again(), 0U);
  EXPECT_EQ(lab->count(Counter::forward_released_earlier_run), 22U);
  std::vector<proxy::FlowInfo> flows;
  lab->shard.describe_flows(flows, 4);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_STREQ(flows[0].phase, "released");
  EXPECT_STREQ(flows[0].reason, "released_earlier_run");
}

TEST_F(ShardCrashedConnections, AnUnexposedConnectionThatEndsIsForgotten) {
  hosts->open();
  restart_without_loss();
  hosts->ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  EXPECT_EQ(lab->shard.released_count(), 0U);
}

TEST_F(ShardCrashedConnections, BothHostsAreChallengedAndResetAtTheirAnswer) {
  expose();
  restart();
  expect_challenge(Side::radio);
  expect_challenge(Side::core);
  hosts->ue(Flags::ack_bit, 0, 1000);  // one of both had arrived
  expect_reset(Side::radio, 1000);
  EXPECT_TRUE(lab->silent(Side::core));
  EXPECT_EQ(lab->count(Counter::orphans_reset), 0U);
  hosts->server(Flags::ack_bit, 2000, 0, "the server goes on");
  expect_reset(Side::core, 0);
  EXPECT_TRUE(lab->silent(Side::radio)) << "nothing of it passes";
  EXPECT_EQ(lab->count(Counter::orphans_reset), 1U);
  EXPECT_EQ(lab->count(Counter::drop_orphan), 2U);
  EXPECT_NE(left.front().state, std::uint32_t{JournalEntry::unused}) << "the resets may be lost on their way";
  hosts->ue(Flags::rst_bit, 0, 0);
  hosts->server(Flags::rst_bit, 0, 0);
  EXPECT_EQ(left.front().state, std::uint32_t{JournalEntry::unused}) << "a third run has nothing to do with it";
  EXPECT_EQ(lab->count(Counter::orphans_reset), 1U);
}

TEST_F(ShardCrashedConnections, AHostIsChallengedUntilItResets) {
  expose();
  restart();
  hosts->ue(Flags::ack_bit, 0, 0);
  lab->forget_output();
  lab->pass_time(std::chrono::seconds(1));
  expect_challenge_of_the_other_half(Side::radio);  // the reset may have been lost
  hosts->ue(Flags::rst_bit, 0, 0);
  lab->forget_output();
  lab->pass_time(std::chrono::seconds(60));
  EXPECT_TRUE(lab->silent(Side::radio));
  int asked = 0;
  std::uint32_t other_half = 0;
  while (const auto seen = lab->next(Side::core)) {
    if (seen->segment().seq.raw() != first_to(Side::core) - 1) ++other_half;
    ++asked;
  }
  EXPECT_EQ(asked, 5) << "2, 4, 8, 16 and 16 s later";
  EXPECT_EQ(other_half, 2U) << "wherever the host's numbers are by now, one of both is not in its window";
  lab->pass_time(std::chrono::minutes(5));
  EXPECT_FALSE(lab->silent(Side::core)) << "its link may have been down until now";
  lab->forget_output();
  hosts->server(Flags::ack_bit, 2000, 0);
  expect_reset(Side::core, 0);
}

TEST_F(ShardCrashedConnections, ALostResetIsRepeatedForTheNextSegmentOfTheHost) {
  expose();
  restart();
  for (int i = 0; i < 3; ++i) {
    lab->forget_output();
    hosts->ue(Flags::ack_bit, 0, 0, "again");
    expect_reset(Side::radio, 0);
  }
}

TEST_F(ShardCrashedConnections, AHostThatResetsByItselfIsNotAnswered) {
  expose();
  restart();
  lab->forget_output();
  hosts->server(Flags::rst_bit, 2000, 0);
  EXPECT_TRUE(lab->silent(Side::core) && lab->silent(Side::radio));
  hosts->ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab->count(Counter::orphans_reset), 1U);
}

TEST_F(ShardCrashedConnections, ConnectionsWithoutLossAndUnsplitOnesPass) {
  hosts->open();
  hosts->server(Flags::ack_bit, 0, 0, "data");
  hosts->ue(Flags::ack_bit, 0, 4);
  restart();
  EXPECT_TRUE(lab->silent(Side::core) && lab->silent(Side::radio));
  hosts->server(Flags::ack_bit, 4, 0, "more");
  EXPECT_EQ(lab->next(Side::radio)->payload, "more");
  hosts->ue(Flags::ack_bit, 0, 8);
  EXPECT_EQ(lab->next(Side::core)->segment().ack.raw(), first_to(Side::radio) + 8);
  hosts->ue_to_server.src_port = 40001;
  hosts->server(Flags::ack_bit, 900, 0, "older than the proxy");
  EXPECT_EQ(lab->next(Side::radio)->payload, "older than the proxy");
  EXPECT_EQ(lab->count(Counter::forward_mid_flow), 3U);
}

// The server has missed the end of the handshake, and the request after it, which the UE has acknowledged.
TEST_F(ShardCrashedConnections, AServerThatRetransmitsItsSynIsReset) {
  hosts->send_syn();
  hosts->send_syn_ack();
  hosts->ue(Flags::ack_bit, 0, 0, "request");
  ASSERT_TRUE(exposed());
  restart();
  lab->forget_output();
  hosts->send_syn_ack();
  EXPECT_FALSE(lab->next(Side::radio)) << "the UE would complete the handshake, and wait for an answer for ever";
  expect_reset(Side::core, 0);
  hosts->ue(Flags::ack_bit, 7, 0);
  expect_reset(Side::radio, 0);
  EXPECT_EQ(lab->count(Counter::orphans_reset), 1U);
}

TEST_F(ShardCrashedConnections, AddressesMayBeReusedAtOnce) {
  expose();
  restart();
  hosts->ue_isn = tcp::SeqNum(777'000);
  lab->forget_output();
  hosts->open();
  EXPECT_EQ(lab->shard.flow_count(), 1U);
  hosts->server(Flags::ack_bit, 0, 0, "of the new one");
  EXPECT_EQ(lab->next(Side::radio)->payload, "of the new one");
  EXPECT_EQ(left.front().state, std::uint32_t{JournalEntry::unused});
}

TEST_F(ShardCrashedConnections, OrphansExpire) {
  expose();
  restart();
  lab->pass_time(keep);
  lab->forget_output();
  hosts->ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab->next(Side::core)->segment().ack.raw(), first_to(Side::radio)) << "it passes";
  EXPECT_TRUE(lab->silent(Side::radio));
  EXPECT_EQ(left.front().state, std::uint32_t{JournalEntry::unused});
}

TEST_F(ShardCrashedConnections, InvalidEntriesAreIgnored) {
  expose();
  const JournalEntry good = *std::find_if(
      journal.begin(), journal.end(), [](const JournalEntry& entry) { return entry.state == JournalEntry::exposed; });
  ASSERT_TRUE(proxy::read(good));
  const auto refused = [&](auto spoil) {
    JournalEntry entry = good;
    spoil(entry);
    return !proxy::read(entry);
  };
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.state = 3; }));
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.state = JournalEntry::unused; }));
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.options = 4; }));
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.key.ue = *IpAddress::parse("fd00::1"); }));
  for (const auto length : std::to_array<std::uint8_t>({0, 13, 15, 18, 22, 23, 255})) {
    EXPECT_TRUE(refused([&](JournalEntry& entry) { entry.headers[1].outer_length = length; })) << int{length};
  }
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.headers[0].flow_label = 1U << 20U; }));
  EXPECT_TRUE(refused([](JournalEntry& entry) { entry.headers[0].dont_fragment = 2; }));
  JournalEntry lost_nothing = good;
  lost_nothing.state = JournalEntry::even;
  ASSERT_TRUE(proxy::read_recovered(lost_nothing));
  const auto no_survivor = [&](auto spoil) {
    JournalEntry entry = lost_nothing;
    spoil(entry);
    return !proxy::read_recovered(entry);
  };
  EXPECT_TRUE(no_survivor([](JournalEntry& entry) { entry.state = JournalEntry::exposed; }));
  EXPECT_TRUE(no_survivor([](JournalEntry& entry) { entry.offers[0].window_scale = 15; }));
  EXPECT_TRUE(no_survivor([](JournalEntry& entry) { entry.offers[1].flags = 32; }));
  EXPECT_TRUE(no_survivor([](JournalEntry& entry) { entry.offers[1].mss = 0; }));
}

TEST_F(ShardCrashedConnections, OptionsOfEachHostAreReadSeparately) {
  using Offer = JournalEntry::Offer;
  using Options = tcp::SynOptions;
  hosts->open();
  JournalEntry entry =
      *std::find_if(journal.begin(), journal.end(), [](const auto& one) { return one.state == JournalEntry::even; });
  using Read = bool (*)(const Options&);
  const auto offers = std::to_array<std::pair<std::uint8_t, Read>>({
      {Offer::window_scaling, [](const Options& options) -> bool { return options.has_window_scale; }},
      {Offer::sack, [](const Options& options) -> bool { return options.sack_permitted; }},
      {Offer::timestamps, [](const Options& options) -> bool { return options.timestamps; }},
      {Offer::ecn, [](const Options& options) -> bool { return options.ecn; }},
      {Offer::accurate_ecn, [](const Options& options) -> bool { return options.accurate_ecn; }},
  });
  for (const auto& [offered, option] : offers) {
    entry.offers[0].flags = offered;
    entry.offers[1].flags = 0;
    const auto connection = proxy::read_recovered(entry);
    ASSERT_TRUE(connection);
    for (const auto& [other, field] : offers) {
      EXPECT_EQ(field(connection->offers[0]), other == offered) << int{offered} << ", " << int{other};
      EXPECT_FALSE(field(connection->offers[1]));
    }
  }
}

TEST_F(ShardCrashedConnections, AnOfferOfEcnIsRecorded) {
  const auto syn = static_cast<std::uint8_t>(Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit);
  lab->put(Side::radio, hosts->frame(true, hosts->segment(syn, hosts->ue_isn.raw(), 0)));
  hosts->send_syn_ack();
  hosts->ue(Flags::ack_bit, 0, 0);
  const JournalEntry& entry =
      *std::find_if(journal.begin(), journal.end(), [](const auto& one) { return one.state == JournalEntry::even; });
  EXPECT_NE(entry.offers[0].flags & JournalEntry::Offer::ecn, 0);
  EXPECT_EQ(entry.offers[1].flags & JournalEntry::Offer::ecn, 0);
}

}  // namespace
}  // namespace sluice::test
