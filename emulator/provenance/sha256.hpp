#pragma once

#include <string>
#include <string_view>

namespace sluice::emulator {

/// Returns the SHA-256 digest (FIPS 180-4) as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace sluice::emulator
