#include "control/reference.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

TEST(Reference, ParsesFramesBytesAndTime) {
  EXPECT_EQ(Reference::parse("100 frames"), Reference::frames(100));
  EXPECT_EQ(Reference::parse("1 frame"), Reference::frames(1));
  EXPECT_EQ(Reference::parse("4000B"), Reference::bytes(Bytes(4000)));
  EXPECT_EQ(Reference::parse("4000 B"), Reference::bytes(Bytes(4000)));
  EXPECT_EQ(Reference::parse("4 KiB"), Reference::bytes(Bytes(4096)));
  EXPECT_EQ(Reference::parse("1.5MiB"), Reference::bytes(Bytes(1572864)));
  EXPECT_EQ(Reference::parse("3kB"), Reference::bytes(Bytes(3000)));
  EXPECT_EQ(Reference::parse("20ms"), Reference::time(20ms));
  EXPECT_EQ(Reference::parse("0.5 s"), Reference::time(500ms));
  EXPECT_EQ(Reference::parse("0B"), Reference());
}

TEST(Reference, RefusesEverythingElse) {
  for (const char* text : {"", " ", "20", "ms", "20 m", "20ms ", " 20ms", "20  ms", "-1 frames", "-0ms", "nan s",
                           "inf B", "1e300 MiB", "20msx", "0x10B", "20 Frames", "1,5ms"}) {
    EXPECT_FALSE(Reference::parse(text).has_value()) << '"' << text << '"';
  }
}

TEST(Reference, CountsInBytes) {
  const Rate mean = Rate::bits_per_second(8e6);
  EXPECT_DOUBLE_EQ(Reference::frames(100).in_bytes(Bytes(40), mean), 4000);
  EXPECT_DOUBLE_EQ(Reference::bytes(Bytes(7)).in_bytes(Bytes(40), mean), 7);
  EXPECT_DOUBLE_EQ(Reference::time(20ms).in_bytes(Bytes(40), mean), 20000);
  EXPECT_DOUBLE_EQ(Reference::time(20ms).in_bytes(Bytes(40), Rate()), 0);
}

TEST(Reference, PrintsWhatItParses) {
  for (const Reference& reference : {Reference(), Reference::frames(12.5), Reference::bytes(Bytes(123456789)),
                                     Reference::time(20ms), Reference::time(1us), Reference::frames(1e11)}) {
    EXPECT_EQ(Reference::parse(reference.to_string()), reference) << reference.to_string();
  }
}

}  // namespace
}  // namespace sluice::control
