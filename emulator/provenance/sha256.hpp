#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sluice::emulator {

/// Returns the SHA-256 digest (FIPS 180-4) as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);
/// Returns the digest of a file's bytes, which it reads in blocks. Throws std::runtime_error if it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace sluice::emulator
