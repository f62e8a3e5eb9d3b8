#pragma once

#include <string_view>

namespace sluice::page {

/// page.html as it was built: one style sheet, one script, and nothing from anywhere else.
extern const std::string_view page_text;

}  // namespace sluice::page
