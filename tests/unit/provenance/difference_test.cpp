#include "emulator/provenance/difference.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "emulator/provenance/sha256.hpp"

namespace sluice::emulator {
namespace {

TEST(Difference, EqualTextsHaveNone) {
  EXPECT_EQ(first_difference("", ""), "");
  EXPECT_EQ(first_difference("a\nb\n", "a\nb\n"), "");
}

TEST(Difference, TheFirstLineThatDiffersIsNamed) {
  EXPECT_EQ(first_difference("a\nb\nc\n", "a\nB\nd\n"), "line 2: \"b\" before, \"B\" now");
  EXPECT_EQ(first_difference("a\n", "a\nb\n"), "line 2: nothing more before, \"b\" now");
  EXPECT_EQ(first_difference("a\nbcd", "a\nb"), "line 2: \"bcd\" before, nothing more now");
}

TEST(Difference, ALongLineIsCutAndATerminalSeesNoControls) {
  const std::string begin(500, 'x');
  const std::string text = first_difference(begin + "\033[2Jone" + begin, begin + "\033[2Jtwo" + begin);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_LT(text.size(), 250U);
}

TEST(Sha256, OfAFileInSeveralBlocksEqualsThatOfItsBytes) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sluice-sha256-" + std::to_string(getpid()));
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{65536}, std::size_t{200000}}) {
    const std::string bytes(size, 'x');
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(sha256_of_file(path), sha256(bytes)) << size;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(static_cast<void>(sha256_of_file(path)), std::runtime_error);
}

TEST(Sha256, EqualsTheVectorsOfTheStandard) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sluice::emulator
