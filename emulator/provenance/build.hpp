#pragma once

#include <filesystem>
#include <string>

namespace sluice::emulator {

/// Description of the build of a program, from which it can be built again or recognised.
struct Build {
  std::string version;    ///< release
  std::string commit;     ///< commit that was checked out at the build; "unknown" outside a repository
  std::string sources;    ///< digest of the sources of that commit, without documents
  bool modified = false;  ///< true if the sources differed from those of the commit
  std::string compiler;
  std::string type;    ///< CMake build type
  std::string sha256;  ///< digest of the executable

  friend bool operator==(const Build&, const Build&) = default;
};

/// Returns the description of this program's build. `executable` is the program's file; throws std::runtime_error if it
/// cannot be read.
[[nodiscard]] Build this_build(const std::filesystem::path& executable);

/// True if two programs give equal results. Either their executables are equal, or both were built from the unmodified
/// sources of one commit, by one compiler and build type.
[[nodiscard]] bool same_results(const Build& a, const Build& b);

/// Returns one text with the values that same_results() compares. Programs with equal results have equal texts.
[[nodiscard]] std::string identity(const Build& build);

/// Returns version, commit, modification, compiler and build type as text for readers.
[[nodiscard]] std::string to_string(const Build& build);

}  // namespace sluice::emulator
