// A switch to end-to-end control in the middle of an exchange in which UE and server take turns.

#include <gtest/gtest.h>

#include "emulator/hosts/connection.hpp"
#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t put_size = 30'000;
constexpr std::uint64_t fetch_size = 60'000;

/// Sends 30 kB, waits for the answer, fetches 60 kB, and begins again.
class Dialogue final : public Application {
 public:
  explicit Dialogue(int rounds) : left_(rounds) {}
  void on_open(Connection& connection, Instant /*now*/) override { put(connection); }
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant /*now*/) override {
    received_ += bytes.size();
    if (received_ < (fetching_ ? fetch_size : Request::length)) return;
    received_ = 0;
    fetching_ = !fetching_;
    if (fetching_) {
      connection.send(Request{Request::Verb::fetch, fetch_size}.encode());
    } else if (--left_ > 0) {
      put(connection);
    }
  }
  [[nodiscard]] bool done() const { return left_ == 0; }

 private:
  void put(Connection& connection) {
    connection.send(Request{Request::Verb::put, put_size}.encode());
    std::vector<std::uint8_t> bytes(put_size);
    client_pattern(connection.addresses().dst_port, connection.addresses().src_port).fill(sent_, bytes);
    sent_ += put_size;
    connection.send(bytes);
  }

  int left_;
  bool fetching_ = false;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
};

// The UE has sent more than the server's own window, so that the proxy advertised more to the UE. That window stays
// open while the UE waits for the server, so the server must be able to send.
TEST(SwitchSim, AServerContinuesWhileTheUeWaitsForIt) {
  for (const proxy::Mode mode : {proxy::Mode::smvs, proxy::Mode::clamp, proxy::Mode::bypass}) {
    for (int at = 500; at < 1500; at += 50) {
      SCOPED_TRACE(std::string(to_string(mode)) + " at " + std::to_string(at) + " ms");
      const proxy::ShardConfig config = small_shard();
      proxy::Policies policies;
      policies.otherwise = config;
      policies.otherwise.mode = mode;
      policies.otherwise.smvs.law = proxy::ControllerLocation::acks;
      if (mode != proxy::Mode::bypass) policies.otherwise.intercept = proxy::Intercept::regulate;
      HostConfig server;
      server.receive_buffer = Bytes(10'000);
      server.window_scale = 0;
      Dialogue dialogue(8);
      Network network(1, config, {}, {}, server);
      network.ue.connect(server_address, port, dialogue, network.loop.now());
      network.loop.run_until(Instant(std::chrono::milliseconds(at)));
      ASSERT_FALSE(dialogue.done()) << "over before the switch";
      network.node.order([&](proxy::Shard& shard) { shard.apply(policies, network.loop.now()); });
      network.loop.run_until(Instant(std::chrono::seconds(30)));
      EXPECT_TRUE(dialogue.done()) << "stuck";
      EXPECT_EQ(network.server_counters.corrupted, 0U);
    }
  }
}

}  // namespace
}  // namespace sluice::test
