#pragma once

#include <span>
#include <string_view>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Value in the JSON answer of a command.
struct AnswerField {
  /// name of the command, as in proxy_verbs, and its option if that changes the form of the answer ("flows
  /// --passing"); "top" is a command of sluicectl
  std::string_view command;

  /// place of the value: keys separated by dots; `[]` stands for each element of a list, `*` for any key. A key that an
  /// answer may lack ends with `?`. An empty path is the answer itself.
  std::string_view path;
  std::string_view type;  ///< "string", "integer", "number" or "boolean"; with `?` at its end the value may be null
  std::string_view meaning;
};

/// Returns every value that an answer can contain, in the order of the commands.
[[nodiscard]] std::span<const AnswerField> answer_fields();
/// Returns the value with this key, without its `?`, in the answers of a command; null if there is none.
[[nodiscard]] const AnswerField* answer_field(std::string_view command, std::string_view key);
/// Returns the JSON schema (draft 2020-12) of all answers: `$defs` has one schema per form of answer, under
/// AnswerField::command.
[[nodiscard]] Json answer_schema();

}  // namespace sluice::admin
