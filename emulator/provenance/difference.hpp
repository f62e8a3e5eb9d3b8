#pragma once

#include <string>
#include <string_view>

namespace sluice::emulator {

/// Describes the first difference of two texts for readers: its line, and a bounded part of each text. Empty if the
/// texts are equal.
[[nodiscard]] std::string first_difference(std::string_view before, std::string_view now);

}  // namespace sluice::emulator
