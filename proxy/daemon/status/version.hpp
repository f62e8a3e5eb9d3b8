#pragma once

#include <string_view>

namespace sluice::proxy {

/// Version of this release, set by the build.
inline constexpr std::string_view version = SLUICE_VERSION;

}  // namespace sluice::proxy
