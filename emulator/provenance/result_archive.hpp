#pragma once

#include <string>
#include <string_view>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Returns all values of a run as bytes. They are exact, because means over seeds need more than the six digits of
/// tables.
[[nodiscard]] std::string archive(const RunResult& result);

/// Reads a run back without loss. Throws std::runtime_error if the bytes are not exactly one run.
[[nodiscard]] RunResult result_of(std::string_view bytes);

}  // namespace sluice::emulator
