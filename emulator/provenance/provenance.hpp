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

/// Name of the file in a result folder that states the provenance of the results.
inline constexpr const char* provenance_file = "provenance.json";
/// Largest size in bytes of a provenance file that is read.
inline constexpr std::size_t provenance_limit = std::size_t{32} << 20;

/// A file of a stored result, with its digest.
struct WrittenFile {
  std::string name;
  std::string sha256;
};

/// Provenance of a result: all that is needed to repeat it.
struct Provenance {
  std::string clock = "virtual";  ///< kind of time of the runs: "virtual", or "real" for runs that cannot be repeated
  Build program;
  std::vector<Machine> machines;  ///< machines on which the runs were executed
  Inputs inputs;
  std::uint32_t seeds_per_point = 1;
  std::vector<std::uint64_t> seeds;  ///< seeds of all runs
  std::vector<std::string> modes;    ///< names of the requested modes; empty: all of the scenario
  std::vector<std::size_t> runs;     ///< numbers of the requested runs; empty: all
  std::vector<WrittenFile> files;
};

/// Returns the provenance as JSON.
[[nodiscard]] std::string to_json(const Provenance& provenance);
/// Parses untrusted JSON. Throws std::runtime_error naming the invalid value.
[[nodiscard]] Provenance parse_provenance(std::string_view text);

}  // namespace sluice::emulator
