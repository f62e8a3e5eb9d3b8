#pragma once

#include <filesystem>
#include <string>

namespace sluice::emulator {

/// Description of the build of a program.
struct Build {
  std::string version;    ///< release
  std::string commit;     ///< commit that was checked out; "unknown" outside a repository
  std::string sources;    ///< digest of the sources of that commit, without documents
  bool modified = false;  ///< true if the sources differed from that commit
  std::string compiler;
  std::string type;    ///< CMake build type
  std::string sha256;  ///< digest of the executable

  friend bool operator==(const Build&, const Build&) = default;
};

/// Returns the build of this program, whose file is `executable`. Throws std::runtime_error if that cannot be read.
[[nodiscard]] Build this_build(const std::filesystem::path& executable);

/// True if two programs give equal results: equal executables, or one compiler and build type for the unmodified
/// sources of one commit.
[[nodiscard]] bool same_results(const Build& a, const Build& b);

/// Returns the values that same_results() compares as one text, which is equal for programs with equal results.
[[nodiscard]] std::string identity(const Build& build);

/// Returns version, commit, modification, compiler and build type as text for readers.
[[nodiscard]] std::string to_string(const Build& build);

}  // namespace sluice::emulator
