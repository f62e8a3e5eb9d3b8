#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "emulator/report/results_csv.hpp"

namespace sluice::emulator::test {

/// Compares a text with the file of that name in tests/unit/nodeb/recorded. A change is accepted by copying the file
/// that the failure names over the recorded one.
inline void expect_recorded(const std::string& name, const std::string& text) {
  std::stringstream recorded;
  recorded << std::ifstream(std::string(SLUICE_RECORDED) + "/" + name).rdbuf();
  if (recorded.str() == text) return;
  const std::filesystem::path drawn = std::filesystem::path(testing::TempDir()) / "recorded_report" / name;
  write_file(drawn, text);
  std::istringstream left(recorded.str());
  std::istringstream right(text);
  std::string expected;
  std::string got;
  int line = 0;
  do {
    ++line;
    expected.clear();
    got.clear();
    std::getline(left, expected);
    std::getline(right, got);
  } while (expected == got && (left || right));
  ADD_FAILURE() << name << " differs from " << drawn << " at line " << line << "\nrecorded: " << expected
                << "\ndrawn:    " << got;
}

}  // namespace sluice::emulator::test
