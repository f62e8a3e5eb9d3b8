#pragma once

#include <string>

namespace sluice::emulator {

/// What a program was made of.
struct Build {
  std::string version;    ///< the release
  std::string commit;     ///< that was checked out; "unknown" outside a repository
  std::string sources;    ///< digest of the sources of that commit, documents apart
  bool modified = false;  ///< the sources differed from them
  std::string compiler;
  std::string type;    ///< CMake's build type
  std::string sha256;  ///< of the executable

  friend bool operator==(const Build&, const Build&) = default;
};

/// That of this program. `executable`: the bytes of its file.
[[nodiscard]] Build this_build(const std::string& executable);

/// Two programs give the same results: one executable, or the sources of a commit, without changes,
/// by one compiler.
[[nodiscard]] bool same_results(const Build& a, const Build& b);

/// What same_results() compares, as one text that is the same for programs that give the same results.
[[nodiscard]] std::string identity(const Build& build);

/// For people: version, commit, and whether it was changed.
[[nodiscard]] std::string to_string(const Build& build);

}  // namespace sluice::emulator
