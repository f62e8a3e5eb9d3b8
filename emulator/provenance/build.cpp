#include "emulator/provenance/build.hpp"

#include "emulator/provenance/sha256.hpp"

// Written by .cmake/build_info.cmake.
#include SLUICE_BUILD_INFO

namespace sluice::emulator {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang++ " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

bool exactly_its_commit(const Build& build) {
  return !build.sources.empty() && !build.modified;
}

}  // namespace

Build this_build(const std::string& executable) {
  return {SLUICE_VERSION, SLUICE_COMMIT,     SLUICE_SOURCES,    SLUICE_MODIFIED,
          compiler,       SLUICE_BUILD_TYPE, sha256(executable)};
}

bool same_results(const Build& a, const Build& b) {
  return identity(a) == identity(b);
}

std::string identity(const Build& build) {
  if (!exactly_its_commit(build)) return "executable " + build.sha256;
  return "sources " + build.sources + ", " + build.compiler + ", " + build.type;
}

std::string to_string(const Build& build) {
  return build.version + ", commit " + build.commit + (build.modified ? " with changes" : "") + ", " + build.compiler +
         (build.type.empty() ? "" : ", " + build.type);
}

}  // namespace sluice::emulator
