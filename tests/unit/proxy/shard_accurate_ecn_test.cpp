// Split connections whose hosts agree on accurate ECN feedback (RFC 9768): handshake, counts of both legs, handback.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::HandbackBlocker;
using proxy::Side;
using tcp::Flags;

constexpr std::uint8_t not_ect = 0, ect1 = tcp::ecn_scalable, ect0 = tcp::ecn_capable, ce = tcp::congestion_experienced;

/// ECN fields of a handshake: those of the IP headers as the proxy receives them, and those of the TCP headers.
struct Opening {
  std::uint8_t syn_ace = 7;
  std::uint8_t syn_ecn = not_ect;
  std::uint8_t answer_ace = 2;
  std::uint8_t answer_ecn = not_ect;
  std::uint8_t last_ace = 2;
};

class AccurateEcnShard : public ScriptedShard {
 protected:
  explicit AccurateEcnShard(const proxy::ShardConfig& config = shard_config()) : ScriptedShard(config) {}

  /// Returns a segment of the UE or the server. Positions count from the first byte of data.
  [[nodiscard]] tcp::Segment segment(bool from_ue, std::uint32_t at, std::uint32_t ack, std::uint8_t ace,
                                     std::uint8_t ecn = not_ect) const {
    const tcp::SeqNum own = from_ue ? hosts.ue_isn : hosts.server_isn;
    const tcp::SeqNum other = from_ue ? hosts.server_isn : hosts.ue_isn;
    tcp::Segment content = hosts.segment(Flags::ack_bit, own.raw() + 1 + at, other.raw() + 1 + ack);
    content.flags.bits |= tcp::ace_bits(ace);
    content.ecn = ecn;
    return content;
  }
  void ue(std::uint32_t at, std::uint32_t ack, std::uint8_t ace, std::size_t bytes = 0, std::uint8_t ecn = not_ect) {
    lab.put(Side::radio, hosts.frame(true, segment(true, at, ack, ace, ecn), std::string(bytes, 'u')));
  }
  void server(std::uint32_t at, std::uint32_t ack, std::uint8_t ace, std::size_t bytes = 0,
              std::uint8_t ecn = not_ect) {
    lab.put(Side::core, hosts.frame(false, segment(false, at, ack, ace, ecn), std::string(bytes, 's')));
  }
  void send_syn(std::uint8_t ace, std::uint8_t ecn = not_ect) {
    tcp::Segment syn = hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0);
    syn.flags.bits |= tcp::ace_bits(ace);
    syn.ecn = ecn;
    expect_untouched(Side::radio, hosts.frame(true, syn));
  }
  void send_answer(std::uint8_t ace, std::uint8_t ecn = not_ect) {
    tcp::Segment answer =
        hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1);
    answer.flags.bits |= tcp::ace_bits(ace);
    answer.ecn = ecn;
    expect_untouched(Side::core, hosts.frame(false, answer));
  }
  void open(const Opening& with = {}) {
    send_syn(with.syn_ace, with.syn_ecn);
    send_answer(with.answer_ace, with.answer_ecn);
    expect_untouched(Side::radio, hosts.frame(true, segment(true, 0, 0, with.last_ace)));
  }
  void expect_untouched(Side in, packet::Packet frame) {
    const std::vector<std::uint8_t> before(frame.data(), frame.data() + frame.size());
    lab.forget_output();
    lab.put(in, std::move(frame));
    const auto seen = lab.next(opposite(in));
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->frame, before);
    lab.forget_output();
  }
  /// Returns the ACE field of the newest segment that left on `side`, and drops all others.
  [[nodiscard]] int newest_ace(Side side) {
    const auto seen = lab.last(side);
    return seen ? tcp::ace_of(seen->segment().flags) : -1;
  }
  /// Returns the ECN field of the next data segment that left on `side`.
  [[nodiscard]] int ecn_of_data(Side side) {
    while (const auto seen = lab.next(side)) {
      EXPECT_TRUE(seen->checksum_good);
      if (seen->segment().payload_len != 0) return seen->segment().ecn;
    }
    return -1;
  }
  [[nodiscard]] std::uint32_t staying(HandbackBlocker blocker) const {
    return lab.shard.staying().by_blocker[static_cast<std::size_t>(blocker)];
  }
  void release() { lab.shard.release(hosts.ue_to_server.src, lab.now); }
};

TEST_F(AccurateEcnShard, TheHandshakePassesAndBothLegsCountByThemselves) {
  for (const std::uint8_t ace : std::initializer_list<std::uint8_t>{2, 3, 4, 6}) {
    ProxyLab other(shard_config());
    SCOPED_TRACE(int{ace});
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(40000 + ace);
    open({.syn_ecn = std::array<std::uint8_t, 8>{0, 0, 0, 1, 2, 0, 3, 0}[ace], .answer_ace = ace});
    server(0, 0, 5, 1000, ect0);
    EXPECT_EQ(newest_ace(Side::radio), 5);
    server(1000, 0, 5, 1000, ce);
    EXPECT_EQ(newest_ace(Side::core), 6) << "the server learns of the mark on its own path";
    EXPECT_EQ(newest_ace(Side::radio), 5) << "the UE has sent nothing that could be marked";
    ue(0, 2000, 7);
    server(2000, 0, 5, 1000, ect0);
    server(3000, 0, 5, 1000, ect0);
    EXPECT_EQ(newest_ace(Side::core), 6) << "marks on the radio path are the proxy's";
  }
  EXPECT_EQ(lab.count(Counter::flows_split), 4U);
  EXPECT_EQ(lab.count(Counter::forward_accurate_ecn), 0U);
}

TEST_F(AccurateEcnShard, AMarkedSynAckIsPartOfTheCounts) {
  open({.answer_ecn = ce, .last_ace = 6});
  ue(0, 0, 6, 500, ect0);
  EXPECT_EQ(newest_ace(Side::core), 6) << "the handshake has reported it to the server";
  server(0, 500, 5, 1000, ect0);
  ue(500, 1000, 6, 500, ce);
  EXPECT_EQ(newest_ace(Side::radio), 6) << "5 + 1: a SYN does not count";
}

TEST_F(AccurateEcnShard, AMarkedSynAckIsCountedIfDataCompletesTheHandshake) {
  send_syn(7);
  send_answer(2, ce);
  ue(0, 0, 6, 500, ect0);
  EXPECT_EQ(newest_ace(Side::core), 6);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(AccurateEcnShard, DataIsEcnCapableWhereTheHandshakeShowsAnIntactField) {
  struct Case {
    Opening opening;
    int to_ue, to_server;
  };
  const Case cases[] = {
      {{}, ect0, ect0},
      {{.syn_ecn = ect0, .answer_ace = 4, .answer_ecn = ect1, .last_ace = 3}, ect0, ect0},
      {{.syn_ecn = ect0, .answer_ace = 6, .answer_ecn = ect0, .last_ace = 6}, ect0, ect0},
      {{.answer_ecn = ect0, .last_ace = 2}, not_ect, ect0},  // bleached on the way to the UE
      {{.answer_ecn = not_ect, .last_ace = 6}, not_ect, ect0},
      {{.answer_ecn = ect0, .last_ace = 3}, not_ect, ect0},
      {{.last_ace = 0}, not_ect, ect0},                     // the UE's ACE field is cleared
      {{.last_ace = 5}, ect0, ect0},                        // a code without a meaning
      {{.syn_ecn = ect0, .answer_ace = 2}, ect0, not_ect},  // bleached on the way to the server
      {{.syn_ecn = not_ect, .answer_ace = 3}, ect0, not_ect},
  };
  std::uint16_t port = 40100;
  for (const Case& each : cases) {
    SCOPED_TRACE(port);
    hosts.ue_to_server.src_port = port++;
    open(each.opening);
    server(0, 0, 5, 1000, ect1);
    EXPECT_EQ(ecn_of_data(Side::radio), each.to_ue);
    lab.forget_output();
    ue(0, 1000, 5, 1000, ect1);
    EXPECT_EQ(ecn_of_data(Side::core), each.to_server);
  }
  EXPECT_EQ(lab.count(Counter::flows_split), std::size(cases));
}

TEST_F(AccurateEcnShard, EveryThirdMarkIsReportedAtTheLatest) {
  open();
  std::uint32_t at = 0;
  for (int i = 0; i < 20; ++i, at += 1000) {
    server(at, 0, 5, 1000, ce);
    ue(0, at + 1000, 5);
    lab.pass_time(std::chrono::milliseconds(1));
  }
  int before = 5, acks = 0;
  while (const auto seen = lab.next(Side::core)) {
    const int ace = tcp::ace_of(seen->segment().flags);
    EXPECT_LE((8 + ace - before) % 8, 2);
    before = ace;
    ++acks;
  }
  EXPECT_GE(acks, 10);
}

TEST_F(AccurateEcnShard, AnUnclearAgreementIsForwarded) {
  const auto expect_forwarded = [&] {
    ue(0, 0, 2);
    ue(0, 0, 5, 100, ect0);
    EXPECT_EQ(lab.count(Counter::flows_split), 0U);
    lab.forget_output();
    server(0, 100, 7, 100, ce);
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(tcp::ace_of(seen->segment().flags), 7) << "counts pass from host to host";
    EXPECT_EQ(seen->segment().ecn, ce);
    lab.forget_output();
    ++hosts.ue_to_server.src_port;
  };
  send_syn(5);  // reserved
  send_answer(2);
  expect_forwarded();
  send_syn(7);
  send_answer(5);  // reserved
  expect_forwarded();
  send_syn(7);
  send_syn(0);  // the second copy without an offer; which of them has the server received?
  send_answer(2);
  expect_forwarded();
  send_syn(7);
  send_answer(2);
  send_syn(0);
  expect_forwarded();
  send_syn(7);
  send_answer(2);
  send_answer(0);
  expect_forwarded();
  EXPECT_GT(lab.count(Counter::forward_accurate_ecn), 9U);
}

TEST_F(AccurateEcnShard, RepeatedSynsWithTheSameFlagsAreSplit) {
  send_syn(7);
  send_syn(7);
  send_answer(2);
  send_answer(2);
  expect_untouched(Side::radio, hosts.frame(true, segment(true, 0, 0, 2)));
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(AccurateEcnShard, AnOfferWithoutAgreementIsSplit) {
  for (const std::uint8_t ace : std::initializer_list<std::uint8_t>{0, 1, 7}) {  // none, classic ECN, a broken server
    open({.answer_ace = ace, .last_ace = 0});
    server(0, 0, 0, 1000);
    ue(0, 1000, 0);
    lab.forget_output();
    server(1000, 0, 0, 1000);
    EXPECT_EQ(newest_ace(Side::radio), 0);
    ++hosts.ue_to_server.src_port;
  }
  EXPECT_EQ(lab.count(Counter::flows_split), 3U);
}

proxy::ShardConfig with_prague(proxy::Mode mode) {
  proxy::ShardConfig config = shard_config(mode);
  config.tcp.congestion = tcp::CongestionAlgorithm::prague;
  config.smvs.law = proxy::ControllerLocation::acks;
  return config;
}

class AccurateEcnPrague : public AccurateEcnShard {
 protected:
  AccurateEcnPrague() : AccurateEcnShard(with_prague(proxy::Mode::i_tcp)) {}
};
class AccurateEcnLaw : public AccurateEcnShard {
 protected:
  AccurateEcnLaw() : AccurateEcnShard(with_prague(proxy::Mode::smvs)) {}
};

TEST_F(AccurateEcnPrague, SendsEct1) {
  open();
  server(0, 0, 5, 1000, ect0);
  lab.pass_time(std::chrono::milliseconds(10));
  EXPECT_EQ(ecn_of_data(Side::radio), ect1);
}

TEST_F(AccurateEcnLaw, SendsEct0ToTheUeBecauseNoCongestionControlRespondsToMarks) {
  send_syn(7);
  send_answer(2);
  ue(0, 0, 2);
  EXPECT_EQ(newest_ace(Side::core), 2) << "the window may be reduced, but the report passes";
  server(0, 0, 5, 1000, ect1);
  lab.pass_time(std::chrono::milliseconds(10));
  EXPECT_EQ(ecn_of_data(Side::radio), ect0);
  lab.forget_output();
  ue(0, 1000, 5, 1000, ect1);
  lab.pass_time(std::chrono::milliseconds(10));
  EXPECT_EQ(ecn_of_data(Side::core), ect1) << "Prague controls the other leg";
}

// --- handback ---

/// The proxy has reported one mark to the server, and the UE counts none.
class AccurateEcnHandback : public AccurateEcnShard {
 protected:
  void open_with_one_mark() {
    open();
    server(0, 0, 5, 1000, ce);
    ue(0, 1000, 5);
    EXPECT_EQ(newest_ace(Side::core), 6);
    lab.forget_output();
  }
};

TEST_F(AccurateEcnHandback, EqualCountsAreHandedBackAtOnce) {
  open();
  server(0, 0, 5, 1000, ect0);
  ue(0, 1000, 5);
  release();
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  expect_untouched(Side::radio, hosts.frame(true, segment(true, 0, 1000, 7)));
}

TEST_F(AccurateEcnHandback, AQuietHostThatCountsLessGetsMarkedAcks) {
  open_with_one_mark();
  release();
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(staying(HandbackBlocker::marks), 1U);
  auto marked = lab.next(Side::radio);
  while (marked && marked->segment().ecn == not_ect) marked = lab.next(Side::radio);
  ASSERT_TRUE(marked);
  EXPECT_EQ(marked->segment().ecn, ce);
  EXPECT_EQ(marked->segment().payload_len, 0U);
  EXPECT_EQ(marked->segment().seq, hosts.server_isn + 1001) << "acceptable, so the UE counts it";
  const auto probe = lab.next(Side::radio);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->segment().ecn, not_ect);
  EXPECT_EQ(probe->segment().seq, hosts.server_isn + 1000) << "the UE must answer this";
  EXPECT_TRUE(lab.silent(Side::radio));
  lab.forget_output();
  ue(0, 1000, 6);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(newest_ace(Side::core), 6) << "the count that the server got before";
  expect_untouched(Side::radio, hosts.frame(true, segment(true, 0, 1000, 7)));
}

TEST_F(AccurateEcnHandback, DataThatPassesIsMarkedUntilTheCountsAreEqual) {
  open();
  for (std::uint32_t at = 0; at < 3000; at += 1000) {
    server(at, 0, 5, 1000, ce);
    ue(0, at + 1000, 5);
  }
  EXPECT_EQ(newest_ace(Side::core), 0) << "5 + 3, modulo 8";
  server(3000, 0, 5, 1000, ect1);  // held for the UE
  release();
  server(4000, 0, 5, 1000, ect1);
  EXPECT_NE(ecn_of_data(Side::radio), ce) << "data of the proxy that is in flight may have been marked";
  ue(0, 4000, 5);
  EXPECT_EQ(newest_ace(Side::core), 0);
  lab.forget_output();
  for (std::uint32_t at = 5000; at < 10000; at += 1000) server(at, 0, 5, 1000, ect1);
  int marked = 0;
  while (const auto seen = lab.next(Side::radio)) {
    EXPECT_TRUE(seen->checksum_good);
    if (seen->segment().ecn == ce) ++marked;
  }
  EXPECT_EQ(marked, 3);
  for (const auto& [ack, ace] : {std::pair(5000U, 5), {6000U, 6}, {7000U, 7}}) {
    ue(0, ack, static_cast<std::uint8_t>(ace));
    const auto seen = lab.next(Side::core);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->checksum_good);
    EXPECT_EQ(tcp::ace_of(seen->segment().flags), 0) << ack;
    EXPECT_EQ(lab.shard.flow_count(), 1U);
  }
  ue(0, 8000, 0);
  EXPECT_EQ(newest_ace(Side::core), 0);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  ue(0, 10000, 1);
  EXPECT_EQ(newest_ace(Side::core), 1) << "a mark of another queue";
}

TEST_F(AccurateEcnHandback, MarksOnDataOfTheProxyAreHiddenFromTheServer) {
  open();
  server(0, 0, 5, 1000, ect0);
  server(1000, 0, 5, 1000, ect0);
  release();
  lab.forget_output();
  ue(0, 1000, 6);
  EXPECT_TRUE(lab.silent(Side::core)) << "a segment of the proxy was marked";
  ue(0, 2000, 7);
  EXPECT_EQ(newest_ace(Side::core), 5);
  EXPECT_EQ(staying(HandbackBlocker::marks), 1U) << "six more marks make a cycle";
  int marked = 0;
  while (const auto seen = lab.next(Side::radio)) marked += seen->segment().ecn == ce ? 1 : 0;
  EXPECT_EQ(marked, 6);
  ue(0, 2000, 2);  // after three
  EXPECT_EQ(newest_ace(Side::core), 5);
  ue(0, 2000, 5);
  EXPECT_EQ(newest_ace(Side::core), 5);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(AccurateEcnHandback, ALostMarkIsSetAgain) {
  open_with_one_mark();
  server(1000, 0, 5, 1000, ect1);
  release();
  server(2000, 0, 5, 1000, ect1);
  ue(0, 2000, 5);
  lab.forget_output();
  server(3000, 0, 5, 1000, ect1);
  EXPECT_EQ(ecn_of_data(Side::radio), ce);
  server(4000, 0, 5, 1000, ect1);
  EXPECT_EQ(ecn_of_data(Side::radio), ect1) << "one mark suffices";
  ue(0, 3000, 5);
  ue(0, 5000, 5);  // the marked segment was lost, and repeated without a mark
  EXPECT_EQ(newest_ace(Side::core), 6);
  lab.forget_output();
  server(5000, 0, 5, 1000, ect1);
  EXPECT_EQ(ecn_of_data(Side::radio), ce);
  ue(0, 6000, 6);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(AccurateEcnHandback, AnIdleConnectionIsLevelledBeforeItsRelease) {
  open_with_one_mark();
  lab.pass_time(proxy::ShardTimeouts{}.idle + std::chrono::seconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(ecn_of_data(Side::radio), -1);
  ue(0, 1000, 6);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_idle), 1U);
}

/// Counts the segments marked CE, and the others, that left to the UE.
struct MarksToTheUe {
  explicit MarksToTheUe(ProxyLab& lab) {
    while (const auto seen = lab.next(Side::radio)) ++(seen->segment().ecn == ce ? marked : others);
  }
  int marked = 0;
  int others = 0;
};

TEST_F(AccurateEcnHandback, AHostThatDoesNotAnswerIsAskedAgain) {
  open_with_one_mark();
  release();
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(10));  // the marked ACK or its answer is lost
  const MarksToTheUe asked(lab);
  EXPECT_EQ(asked.marked, 0) << "the mark may have arrived";
  EXPECT_GE(asked.others, 2);
  ue(0, 1000, 5);  // it has not
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(MarksToTheUe(lab).marked, 1);
  ue(0, 1000, 6);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(AccurateEcnHandback, AHostThatNeverAnswersIsAskedAFewTimes) {
  open_with_one_mark();
  release();
  lab.forget_output();
  lab.pass_time(std::chrono::minutes(10));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  const MarksToTheUe asked(lab);
  EXPECT_EQ(asked.marked, 0);
  EXPECT_GE(asked.others, 2);
  EXPECT_LE(asked.others, 6);
}

TEST_F(AccurateEcnHandback, AFinEndsTheJoin) {
  open_with_one_mark();
  release();
  ASSERT_EQ(lab.shard.flow_count(), 1U);
  tcp::Segment fin = segment(true, 0, 1000, 5);
  fin.flags.bits |= Flags::fin_bit;
  lab.put(Side::radio, hosts.frame(true, fin));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(AccurateEcnHandback, AnEndedJoinDoesNotBeginAgainWithDataOfTheProxy) {
  open_with_one_mark();
  server(1000, 0, 5, 1000, ect1);  // held for the UE
  release();
  tcp::Segment fin = segment(false, 2000, 0, 5);
  fin.flags.bits |= Flags::fin_bit;
  lab.put(Side::core, hosts.frame(false, fin));
  lab.forget_output();
  ue(0, 2000, 5);
  EXPECT_EQ(newest_ace(Side::core), 5) << "the UE's own count";
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(AccurateEcnHandback, ASenderWithoutEcnEndsTheJoin) {
  open_with_one_mark();
  server(1000, 0, 5, 1000);
  release();
  for (std::uint32_t at = 2000; at < 1200000; at += 1000) {
    server(at, 0, 5, 1000);
    EXPECT_NE(ecn_of_data(Side::radio), ce) << "a packet that is not ECN-capable is not marked";
    ue(0, at + 1000, 5);
  }
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

// The UE would not count an ACK with a number before the data that has passed to it.
TEST_F(AccurateEcnHandback, NoMarkedAckFollowsDataThatPassesToASuccessor) {
  open_with_one_mark();
  server(1000, 0, 5, 1000, ect1);  // held for the UE
  proxy::ShardConfig end_to_end = shard_config();
  end_to_end.mode = proxy::Mode::observe;
  const proxy::Policies policies(end_to_end.policy_set());
  lab.shard.apply(policies, lab.now);
  server(2000, 0, 5, 1000, not_ect);
  ue(0, 2000, 5);
  lab.forget_output();
  ue(0, 3000, 5);
  EXPECT_EQ(MarksToTheUe(lab).marked, 0);
  server(3000, 0, 5, 1000, ect1);
  EXPECT_EQ(ecn_of_data(Side::radio), ce) << "data is marked instead";
  ue(0, 4000, 6);
  EXPECT_EQ(lab.shard.end_to_end_count(), 1U);
}

TEST_F(AccurateEcnHandback, AReleasedConnectionIsNotSplitAgain) {
  open();
  server(0, 0, 5, 1000, ect0);
  ue(0, 1000, 5);
  release();
  ASSERT_EQ(lab.shard.flow_count(), 0U);
  lab.shard.split_again(hosts.ue_to_server.src);
  for (std::uint32_t i = 0; i < 5; ++i) {  // a count of eight looks like an ordinary acknowledgement
    ue(100 * i, 1000 + 100 * i, 0, 100);
    server(1000 + 100 * i, 100 * (i + 1), 0, 100);
  }
  EXPECT_EQ(lab.count(Counter::flows_split_again), 0U);
}

}  // namespace
}  // namespace sluice::test
