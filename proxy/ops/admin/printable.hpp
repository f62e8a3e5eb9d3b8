#pragma once

#include <string>
#include <string_view>

namespace sluice::admin {

/// Returns foreign text in a form that is safe for a terminal. Control characters (C0, DEL, and C1 in UTF-8) and octets
/// that are not UTF-8 become \x1b and the like. If `lines` is true, line ends stay.
[[nodiscard]] std::string printable(std::string_view text, bool lines = false);

}  // namespace sluice::admin
