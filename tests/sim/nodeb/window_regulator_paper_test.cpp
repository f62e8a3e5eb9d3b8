// The figures of Chan and Ramjee (INFOCOM 2004) at a few of their points, shorter than ./run experiment has them.

#include "tests/sim/nodeb/paper_point.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

using Points = std::vector<std::string>;

/// The mean throughput of two seeds in kb/s.
double throughput(const std::string& figure, const std::string& mode, Points point, Duration duration) {
  point.push_back("mode=" + mode);
  double sum = 0;
  for (const std::uint64_t seed : {1, 2}) sum += run_paper(figure, point, duration, seed).throughput_bps / 2000;
  return sum;
}

TEST(WindowRegulatorPaper, Figure7AtSmallBuffersTheOrderIsThePapers) {
  for (const char* buffer : {"buffer_packets=5", "buffer_packets=10"}) {
    SCOPED_TRACE(buffer);
    const auto rate = [&](const std::string& mode) { return throughput("wr-fig7", mode, {buffer}, 220s); };
    const double drop_tail = rate("none");
    const double wrd = rate("wrd/regulate");
    const double wrb = rate("wrb/regulate");
    EXPECT_GT(wrb, wrd);
    EXPECT_GT(wrd, 1.15 * drop_tail);
    EXPECT_GT(rate("ack-regulator"), 1.1 * drop_tail);
    EXPECT_LT(rate("wrs/regulate"), 0.9 * drop_tail);
  }
}

TEST(WindowRegulatorPaper, Figure7NoLawLosesBySmallBuffersAndAllMeetAtLargeOnes) {
  for (const char* mode : {"wrs/regulate", "wrd/regulate", "wrb/regulate"}) {
    SCOPED_TRACE(mode);
    const std::string on = "mode=" + std::string(mode);
    const RunResult result = run_paper("wr-fig7", {"buffer_packets=10", on}, 220s);
    // A fifth of a percent of the packets, where drop-tail loses ten times as many.
    EXPECT_LT(result.drops * 500 * 8000, result.throughput_bps * result.measured_s);
  }
  const double drop_tail = throughput("wr-fig7", "none", {"buffer_packets=50"}, 220s);
  EXPECT_NEAR(throughput("wr-fig7", "wrb/regulate", {"buffer_packets=50"}, 220s), drop_tail, 0.08 * drop_tail);
}

}  // namespace
}  // namespace sluice::emulator
