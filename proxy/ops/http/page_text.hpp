#pragma once

#include <string_view>

namespace sluice::page {

/// Contents of page.html as built into the program: one style sheet, one script and no external resources.
extern const std::string_view page_text;

}  // namespace sluice::page
