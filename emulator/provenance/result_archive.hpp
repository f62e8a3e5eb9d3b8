#pragma once

#include <string>
#include <string_view>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Everything of a run as bytes. Tables have six digits of a number; means over seeds need all of them.
[[nodiscard]] std::string archive(const RunResult& result);

/// Reads it back, bit for bit. Throws std::runtime_error where the bytes are not of a run.
[[nodiscard]] RunResult result_of(std::string_view bytes);

}  // namespace sluice::emulator
