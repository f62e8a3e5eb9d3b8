#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "emulator/hosts/framed_stream.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/runtime/deferred_element.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator::test {

/// A UE and a server with 20 ms of round trip between them, and 20 Mb/s towards the UE.
class TwoHosts : public testing::Test {
 protected:
  TwoHosts() {
    to_client_.set_next(client_);
    to_server_.set_next(server_);
    server_.listen(80,
                   [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
    server_.listen(443,
                   [this](const packet::Addresses& ours) { return std::make_unique<FramedServer>(ours, counters_); });
  }
  static HostConfig config(const IpAddress& address) {
    HostConfig host;
    host.address = address;
    return host;
  }
  void run(Duration until) {
    loop_.run_until(Instant(until));
    client_.end_run(loop_.now());
    server_.end_run(loop_.now());
    EXPECT_EQ(log_.corrupted, 0U);
    EXPECT_EQ(log_.failures, 0U);
  }

  EventLoop loop_;
  DeferredElement to_client_;
  DeferredElement to_server_;
  DelayLine down_{loop_, {std::chrono::milliseconds(10), Rate::bits_per_second(20e6), Bytes(200'000)}, to_client_};
  DelayLine up_{loop_, {std::chrono::milliseconds(10), Rate(), Bytes()}, to_server_};
  ServerCounters counters_;
  FlowLog log_;
  Host server_{loop_, ::sluice::test::pool(), config(IpAddress::v4(192, 0, 2, 1)), Random::stream(1, "server"), down_};
  Host client_{loop_, ::sluice::test::pool(), config(IpAddress::v4(10, 45, 0, 2)), Random::stream(1, "client"), up_};
};

}  // namespace sluice::emulator::test
