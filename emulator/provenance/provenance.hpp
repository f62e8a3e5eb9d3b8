#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/provenance/build.hpp"
#include "emulator/provenance/inputs.hpp"
#include "emulator/provenance/machine.hpp"

namespace sluice::emulator {

/// The file of a folder of results that says where they are from.
inline constexpr const char* provenance_file = "provenance.json";
/// It is at most so long.
inline constexpr std::size_t provenance_limit = std::size_t{32} << 20;

/// A file that was written.
struct WrittenFile {
  std::string name;
  std::string sha256;
};

/// Where a result is from: all that is needed to get it once more.
struct Provenance {
  std::string clock = "virtual";  ///< or "real", which cannot be repeated
  Build program;
  std::vector<Machine> machines;  ///< where its runs were
  Inputs inputs;
  std::uint32_t seeds_per_point = 1;
  std::vector<std::uint64_t> seeds;  ///< of all runs
  std::vector<std::string> modes;    ///< that were asked for; empty: all of the scenario
  std::vector<std::size_t> runs;     ///< numbers that were asked for; empty: all
  std::vector<WrittenFile> files;
};

/// JSON, for the file.
[[nodiscard]] std::string to_json(const Provenance& provenance);
/// Reads it; the text may come from anywhere. Throws std::runtime_error saying which value is not what it should be.
[[nodiscard]] Provenance parse_provenance(std::string_view text);

}  // namespace sluice::emulator
