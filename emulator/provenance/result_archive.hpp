#pragma once

#include <string>
#include <string_view>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Returns all values of a run as bytes, without rounding. Tables contain six digits, which is not enough for means
/// over seeds.
[[nodiscard]] std::string archive(const RunResult& result);

/// Returns the run that archive() wrote as `bytes`, without loss. Throws std::runtime_error if the bytes are not
/// exactly one run.
[[nodiscard]] RunResult result_of(std::string_view bytes);

}  // namespace sluice::emulator
