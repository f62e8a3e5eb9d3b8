#include "emulator/provenance/result_archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/unit/provenance/samples.hpp"

namespace sluice::emulator {
namespace {

TEST(ResultArchive, ARunIsRestoredBitForBit) {
  const RunResult before = test::full_result();
  const RunResult now = result_of(archive(before));
  EXPECT_EQ(archive(now), archive(before));
  EXPECT_EQ(now.key, before.key);
  EXPECT_TRUE(std::isnan(now.goodput));
  EXPECT_TRUE(std::signbit(*now.fetch_p50_ms));
  EXPECT_EQ(now.drops, before.drops);
  EXPECT_EQ(now.counters, before.counters);
  EXPECT_EQ(now.series.at(0).allowance_bps, before.series.at(0).allowance_bps);
  EXPECT_FALSE(now.series.at(1).allowance_bps);
  EXPECT_EQ(now.flows.at(0).ue_port, 65'535);
  EXPECT_EQ(now.queues.at(0).source, before.queues.at(0).source);
}

TEST(ResultArchive, ATruncatedArchiveIsRefused) {
  const std::string bytes = archive(test::full_result());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(static_cast<void>(result_of(bytes.substr(0, length))), std::runtime_error) << length;
  }
  EXPECT_THROW(static_cast<void>(result_of(bytes + 'x')), std::runtime_error);
}

TEST(ResultArchive, AChangedByteIsRefusedOrHarmless) {
  const std::string bytes = archive(test::full_result());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(0xff);
    try {
      static_cast<void>(result_of(other));
    } catch (const std::runtime_error&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
