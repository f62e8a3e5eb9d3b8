// Paced connections: the shard's timers serve what the endpoints hold back.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Side;
using std::chrono::milliseconds;
using tcp::Flags;

proxy::ShardConfig with(tcp::CongestionAlgorithm congestion, bool pacing) {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  config.tcp.congestion = congestion;
  config.tcp.pacing = pacing;
  return config;
}

/// A handshake in which the UE's side takes 20 ms.
void open_slowly(ProxyLab& lab, ScriptedHosts& hosts) {
  hosts.send_syn();
  lab.pass_time(milliseconds(5));
  hosts.send_syn_ack();
  lab.pass_time(milliseconds(20));
  hosts.ue(Flags::ack_bit, 0, 0);
  lab.forget_output();
}

int data_to_ue(ProxyLab& lab) {
  int count = 0;
  while (const auto seen = lab.next(Side::radio)) count += seen->segment().payload_len != 0 ? 1 : 0;
  return count;
}

TEST(PacedFlow, IsSentInBurstsByItsTimer) {
  using tcp::CongestionAlgorithm;
  for (const CongestionAlgorithm each :
       {CongestionAlgorithm::cubic, CongestionAlgorithm::bbr, CongestionAlgorithm::bbr3, CongestionAlgorithm::copa}) {
    ProxyLab lab(with(each, true));
    ScriptedHosts hosts(lab);
    open_slowly(lab, hosts);
    for (std::uint32_t i = 0; i < 10; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'x'));
    int total = data_to_ue(lab);
    EXPECT_EQ(total, 1) << "the first to come; the others may not follow at once";
    for (int i = 0; i < 12; ++i) {
      lab.pass_time(milliseconds(1));
      const int burst = data_to_ue(lab);
      EXPECT_LE(burst, 4) << "two segments, and a timer that was a millisecond late";
      total += burst;
    }
    EXPECT_EQ(total, 10);
  }
}

TEST(PacedFlow, UnpacedFlowsSendTheirWindowAtOnce) {
  ProxyLab lab(with(tcp::CongestionAlgorithm::cubic, false));
  ScriptedHosts hosts(lab);
  open_slowly(lab, hosts);
  for (std::uint32_t i = 0; i < 10; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'x'));
  EXPECT_EQ(data_to_ue(lab), 10);
}

TEST(PacedFlow, ItsPooledStateIsReusedAfterAReset) {
  ProxyLab lab(with(tcp::CongestionAlgorithm::bbr, false));
  for (int i = 0; i < 3; ++i) {
    ScriptedHosts hosts(lab);
    open_slowly(lab, hosts);
    for (std::uint32_t j = 0; j < 10; ++j) hosts.server(Flags::ack_bit, j * 1000, 0, std::string(1000, 'x'));
    EXPECT_EQ(data_to_ue(lab), 1);
    hosts.ue(Flags::rst_bit, 0, 0);
    lab.pass_time(milliseconds(50));
    lab.forget_output();
    EXPECT_EQ(lab.shard.flow_count(), 0U);
  }
}

}  // namespace
}  // namespace sluice::test
