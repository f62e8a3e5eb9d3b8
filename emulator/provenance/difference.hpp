#pragma once

#include <string>
#include <string_view>

namespace sluice::emulator {

/// Where two texts differ first, for people: the line, and what each has there, cut where it is long. Empty when they
/// are the same bytes.
[[nodiscard]] std::string first_difference(std::string_view before, std::string_view now);

}  // namespace sluice::emulator
