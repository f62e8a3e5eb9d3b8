#pragma once

#include <string_view>

namespace sluice::proxy {

/// The release, as the build names it.
inline constexpr std::string_view version = SLUICE_VERSION;

}  // namespace sluice::proxy
