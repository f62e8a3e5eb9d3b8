// What a configuration needs of the machine.

#include "proxy/daemon/runtime/resources.hpp"

#include <gtest/gtest.h>

#include "proxy/ops/http/event_stream.hpp"
#include "proxy/ops/http/http_server.hpp"

namespace sluice::proxy {
namespace {

TEST(Descriptors, EachShardHasTheDescriptorsOfItsQueues) {
  Config config;
  config.shards.count = 1;
  const std::uint64_t one = descriptors_for(config);
  config.shards.count = 2;
  const std::uint64_t more = descriptors_for(config) - one;
  EXPECT_GE(more, 2U);
  config.shards.count = 5;
  EXPECT_EQ(descriptors_for(config), one + 4 * more);
}

TEST(Descriptors, EveryClientOfThePageHasADescriptor) {
  Config config;
  const std::uint64_t without = descriptors_for(config);
  config.metrics.listen.emplace();
  EXPECT_EQ(descriptors_for(config), without + http::HttpLimits{}.connections + http::EventLimits{}.clients);
}

}  // namespace
}  // namespace sluice::proxy
