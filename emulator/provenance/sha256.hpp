#pragma once

#include <string>
#include <string_view>

namespace sluice::emulator {

/// SHA-256 (FIPS 180-4) in 64 small hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace sluice::emulator
