// Tests of the sd_notify protocol: readiness, watchdog, reload and stop messages.
#include "proxy/daemon/service/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/unit/runtime/notify_socket.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ServiceManagerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(socket.works()); }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  NotifySocket socket;
};

TEST_F(ServiceManagerTest, UsesTheMessagesOfTheProtocol) {
  ServiceManager manager(socket.name(), std::nullopt);
  manager.ready("mode smvs");
  manager.reloading(Instant(1500ms));
  manager.status("two\nlines");
  manager.alive();
  manager.stopping(15s);
  EXPECT_THAT(socket.messages(),
              ElementsAre("READY=1\nSTATUS=mode smvs", "RELOADING=1\nMONOTONIC_USEC=1500000", "STATUS=two lines",
                          "WATCHDOG=1", "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000"));
}

TEST_F(ServiceManagerTest, ReadsAndClearsItsEnvironmentVariables) {
  setenv("NOTIFY_SOCKET", socket.name().c_str(), 1);
  setenv("WATCHDOG_USEC", "3000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  ServiceManager manager = ServiceManager::from_environment();
  manager.alive();
  EXPECT_THAT(socket.messages(), ElementsAre("WATCHDOG=1"));
  EXPECT_EQ(manager.watchdog(), Duration(3s));
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) EXPECT_EQ(std::getenv(name), nullptr);
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessOrWithAnInvalidTimeIsIgnored) {
  setenv("NOTIFY_SOCKET", socket.name().c_str(), 1);
  setenv("WATCHDOG_USEC", "3000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(ServiceManager::from_environment().watchdog());
  for (const char* nonsense : {"", "0", "-5", "3s", "99999999999999999999", "9223372036854775807"}) {
    setenv("NOTIFY_SOCKET", socket.name().c_str(), 1);
    setenv("WATCHDOG_USEC", nonsense, 1);
    EXPECT_FALSE(ServiceManager::from_environment().watchdog()) << nonsense;
  }
}

TEST_F(ServiceManagerTest, DoesNothingWithoutAServiceManager) {
  ServiceManager manager = ServiceManager::from_environment();
  manager.ready("");
  manager.stopping(1s);
  EXPECT_FALSE(manager.watchdog());
}

TEST_F(ServiceManagerTest, AnUnusableSocketIsReported) {
  for (const char* name : {"", "relative", "/nonexistent/notify"}) {
    EXPECT_THROW(ServiceManager(name, std::nullopt), std::runtime_error) << name;
  }
  EXPECT_THROW(ServiceManager("/" + std::string(200, 'x'), std::nullopt), std::runtime_error);
}

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(socket.works()); }
  /// Runs timers for `time` and returns the messages to the manager in it.
  std::vector<std::string> told_within(std::chrono::milliseconds time) {
    context.run_for(time);
    context.restart();
    return socket.messages();
  }
  /// Waits for the next message to the manager.
  std::vector<std::string> told_next() {
    std::vector<std::string> all;
    while (all.empty()) all = told_within(5ms);
    return all;
  }
  NotifySocket socket;
  boost::asio::io_context context;
  bool healthy = true;
  Service service{context,
                  ServiceManager(socket.name(), Duration(40ms)),
                  {[this] { return healthy; }, [] { return std::string("all is well"); }}};
};

const std::string ready = "READY=1\nSTATUS=all is well";

TEST_F(ServiceTest, IsReadyOnceItIsHealthy) {
  healthy = false;
  service.start();
  EXPECT_THAT(told_within(60ms), IsEmpty());
  healthy = true;
  EXPECT_EQ(told_next().front(), ready);
}

TEST_F(ServiceTest, SendsWatchdogMessagesPeriodically) {
  service.start();
  std::vector<std::string> all = told_next();
  while (all.size() < 5) {
    for (const std::string& message : told_next()) all.push_back(message);
  }
  EXPECT_EQ(all.front(), ready);
  all.erase(all.begin());
  EXPECT_THAT(all, Each(std::string("WATCHDOG=1")));
}

TEST_F(ServiceTest, SendsNoWatchdogMessageWhileUnhealthy) {
  service.start();
  told_next();
  healthy = false;
  EXPECT_THAT(told_within(100ms), Not(Contains("WATCHDOG=1")));
  service.changed();
  EXPECT_THAT(socket.messages(), ElementsAre("STATUS=all is well"));
  healthy = true;
  service.changed();
  EXPECT_THAT(socket.messages(), ElementsAre("STATUS=all is well", "WATCHDOG=1"));
}

TEST_F(ServiceTest, ReportsTheBeginningAndEndOfAReload) {
  std::vector<std::string> before_the_work;
  service.reload(Instant(7s), [&] { before_the_work = socket.messages(); });
  EXPECT_THAT(before_the_work, ElementsAre("RELOADING=1\nMONOTONIC_USEC=7000000"));
  EXPECT_THAT(socket.messages(), ElementsAre(ready));
}

TEST_F(ServiceTest, ReportsStoppingOnceWithAnExtendedTimeout) {
  service.stopping(5s);
  service.stopping(5s);
  EXPECT_THAT(socket.messages(), ElementsAre("STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000"));
  service.start();
  EXPECT_THAT(told_next(), Not(Contains(ready))) << "what stops does not become ready";
}

}  // namespace
}  // namespace sluice::proxy
