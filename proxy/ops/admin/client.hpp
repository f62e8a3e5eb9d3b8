#pragma once

#include <chrono>
#include <string>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Sends one command line to a program's admin socket and waits for the answer. Throws std::runtime_error with advice
/// if no answer arrives in time.
[[nodiscard]] Answer ask(const std::string& socket, const std::string& line, std::chrono::milliseconds timeout);

/// Returns the error message for a user, with cause and advice, after connect(2) to an admin socket has failed with the
/// errno `error`.
[[nodiscard]] std::string unreachable(const std::string& socket, int error);

/// Formats an answer as text: objects as aligned "key value" lines (nested ones as "outer.inner"), lists of objects as
/// a table. Control characters are escaped as by printable(). The text ends with a line end, unless it is empty.
[[nodiscard]] std::string to_table(const Json& value);

}  // namespace sluice::admin
