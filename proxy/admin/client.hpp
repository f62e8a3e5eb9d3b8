#pragma once

#include <chrono>
#include <string>

#include "proxy/admin/command.hpp"

namespace sluice::admin {

/// Sends one command line to a program's admin socket and waits for the answer. Throws std::runtime_error when nobody
/// answers in time, with what to do about it.
[[nodiscard]] Answer ask(const std::string& socket, const std::string& line, std::chrono::milliseconds timeout);

/// An answer for people: objects as aligned "key value" lines (nested ones as "outer.inner"), lists of objects as a
/// table, anything else as it is; control characters as printable() has them. Ends with a line end unless empty.
[[nodiscard]] std::string to_table(const Json& value);

}  // namespace sluice::admin
