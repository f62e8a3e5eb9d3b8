#pragma once

#include <string>
#include <string_view>

namespace sluice::admin {

/// Returns text from outside in a form that is safe for a terminal. Control characters (C0, C1 and DEL) and bytes that
/// are not UTF-8 become escapes such as \x1b. If `lines` is true, line ends are kept.
[[nodiscard]] std::string printable(std::string_view text, bool lines = false);

}  // namespace sluice::admin
