// Tests of the pooled state that only a connection with loss or reordering holds: when it is allocated and released.
#include "dataplane/tcp/recovery_state.hpp"

#include <memory>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

class CountingStore : public tcp::RecoveryStatePool {
 public:
  tcp::RecoveryState& take() override {
    ++taken;
    ++lent;
    return *new tcp::RecoveryState(this);
  }
  void give_back(tcp::RecoveryState& recovery_state) noexcept override {
    --lent;
    delete &recovery_state;
  }

  int taken = 0;
  int lent = 0;
};

class RecoveryStateTest : public ::testing::Test {
 protected:
  RecoveryStateTest() {
    s->config.recovery_states = &store;
    s->use_sack();
    s->open();
  }
  ~RecoveryStateTest() override {
    s.reset();
    EXPECT_EQ(store.lent, 0);
  }

  CountingStore store;
  std::unique_ptr<Script> s = std::make_unique<Script>();
};

TEST_F(RecoveryStateTest, IsNotAllocatedWhileDataArrivesInOrder) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    s->write_segments(2);
    s->emit();
    s->receive_data(i * mss, mss);
    s->read_all();
    s->receive_ack((i + 1) * 2 * mss);
    s->pass(10ms);
  }
  EXPECT_EQ(store.taken, 0);
  EXPECT_TRUE(s->endpoint.on_fast_path());
}

TEST_F(RecoveryStateTest, IsHeldUntilALossIsRepaired) {
  s->write_segments(6);
  s->emit();
  s->receive_sack(0, {{mss, 6 * mss}});
  EXPECT_TRUE(s->endpoint.in_recovery());
  s->emit();
  EXPECT_EQ(store.lent, 1);
  s->receive_ack(6 * mss);
  EXPECT_EQ(store.lent, 0);
  EXPECT_TRUE(s->endpoint.on_fast_path());
}

TEST_F(RecoveryStateTest, IsHeldUntilATimeoutIsRepaired) {
  s->config.tail_loss_probes = false;
  s->write_segments(3);
  s->emit();
  s->pass(1500ms);
  EXPECT_NE(s->endpoint.counters().timeouts, 0);
  EXPECT_EQ(store.lent, 1);
  s->receive_ack(3 * mss);
  EXPECT_EQ(store.lent, 0);
}

TEST_F(RecoveryStateTest, IsHeldUntilOutOfOrderDataIsComplete) {
  s->receive_data(mss, mss);
  s->emit();
  EXPECT_EQ(store.lent, 1);
  EXPECT_TRUE(s->endpoint.reassembling());
  s->receive_data(0, mss);
  s->emit();
  EXPECT_EQ(s->read_all(), 2 * mss);
  EXPECT_EQ(store.lent, 0);
  EXPECT_TRUE(s->endpoint.on_fast_path());
}

TEST_F(RecoveryStateTest, IsHeldUntilADuplicateIsReported) {
  s->receive_data(0, mss);
  s->emit();
  s->pass(100ms);
  s->discard_sent();
  s->receive_data(0, mss / 2);  // less than was sent first
  s->receive_data(mss / 2, mss);
  EXPECT_EQ(store.lent, 1);
  s->emit();
  EXPECT_EQ(s->wire.next().segment.sack_count, 1);
  EXPECT_EQ(store.lent, 0);
}

TEST_F(RecoveryStateTest, IsHeldUntilUrgentDataIsAcknowledged) {
  s->write(mss);
  s->endpoint.announce_urgent(s->our_base + mss);
  s->emit();
  EXPECT_EQ(store.lent, 1);
  s->receive_ack(mss);
  EXPECT_EQ(store.lent, 0);
}

TEST_F(RecoveryStateTest, IsReleasedAtTheEndOfTheConnection) {
  s->receive_data(mss, mss);
  ASSERT_EQ(store.lent, 1);
  s->endpoint.abort();
  EXPECT_EQ(store.lent, 0);
  s->emit();
  EXPECT_EQ(s->endpoint.state(), tcp::State::closed);
}

TEST_F(RecoveryStateTest, IsNotInheritedByTheNextConnection) {
  s->receive_data(mss, mss);
  ASSERT_EQ(store.lent, 1);
  s->open();
  EXPECT_EQ(store.lent, 0);
  EXPECT_FALSE(s->endpoint.reassembling());
  EXPECT_TRUE(s->endpoint.on_fast_path());
}

TEST_F(RecoveryStateTest, IsReleasedWithTheEndpoint) {
  auto endpoint = std::make_unique<tcp::Endpoint>();
  tcp::EstablishedState state;
  state.rcv_adv = state.rcv_nxt + 65535;
  state.snd_window = 65535;
  endpoint->establish_at(s->config, state, s->now);
  endpoint->announce_urgent(state.snd_nxt + 100);
  EXPECT_EQ(store.lent, 1);
  endpoint.reset();
  EXPECT_EQ(store.lent, 0);
}

}  // namespace
}  // namespace sluice::test
