#pragma once

#include <string_view>

namespace sluice::page {

/// Contents of page.html, which is built into the program. It contains one style sheet and one script, and needs no
/// external resources.
extern const std::string_view page_text;

}  // namespace sluice::page
