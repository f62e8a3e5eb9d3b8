#pragma once

#include <string>
#include <string_view>

namespace sluice::admin {

/// Text of another program for a terminal: control characters (C0, DEL, and C1 in UTF-8), which a terminal would obey,
/// and octets that are no UTF-8 become \x1b and the like; everything else is as it was. `lines`: line ends stay.
[[nodiscard]] std::string printable(std::string_view text, bool lines = false);

}  // namespace sluice::admin
