#pragma once

#include <span>
#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Description of one value in the JSON answer to a command.
struct AnswerField {
  /// Name of the command, as in proxy_verbs; "top" is a command of sluicectl. An option follows the name if it changes
  /// the form of the answer ("flows --passing").
  std::string_view command;

  /// Path of the value in the answer: keys separated by dots. `[]` stands for each element of a list, `*` for any key.
  /// A key that may be missing ends with `?`. The path is empty for the answer as a whole.
  std::string_view path;
  /// JSON type: "string", "integer", "number" or "boolean"; a `?` at the end means that the value may be null
  std::string_view type;
  std::string_view meaning;
};

/// Returns the description of every value that an answer can contain, in the order of the commands.
[[nodiscard]] std::span<const AnswerField> answer_fields();
/// Returns the description of the value with the path `key` in the answer to a command; null if there is none. `key` is
/// written without the `?` with which AnswerField::path marks a key that may be missing.
[[nodiscard]] const AnswerField* answer_field(std::string_view command, std::string_view key);
/// Returns the JSON schema (draft 2020-12) of all answers. Under `$defs` it has one schema for each form of answer,
/// named by AnswerField::command.
[[nodiscard]] Json answer_schema();

}  // namespace sluice::admin
