#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/admin/byte_stream.hpp"

namespace sluice::admin {

/// Keys keep their order: it is the order of the table that people see.
using Json = nlohmann::ordered_json;

/// What a command came to: a JSON value, or a sentence saying why there is none.
struct Answer {
  bool ok = true;
  Json value;  ///< a text when not ok
  /// What follows the line on the wire; the connection ends with it. Null: nothing.
  std::shared_ptr<ByteStream> stream{};

  [[nodiscard]] static Answer success(Json value) { return {true, std::move(value)}; }
  [[nodiscard]] static Answer failure(std::string why) { return {false, std::move(why)}; }
  /// The line on the wire, with its end: {"ok":true,"result":…} or {"ok":false,"error":"…"}. Text that is not UTF-8 is
  /// mended.
  [[nodiscard]] std::string to_line() const;
  /// Reads such a line. A malformed one is a failure.
  [[nodiscard]] static Answer from_line(std::string_view line);
};

/// Takes the answer, at most once, now or later, on the thread of the server's io_context.
using Reply = std::function<void(Answer)>;

/// One command of a program.
struct Command {
  std::string name;       ///< what is typed
  std::string arguments;  ///< as shown in help: "[LIMIT]"
  std::string help;
  std::size_t max_arguments = 0;
  std::function<void(const std::vector<std::string>& arguments, Reply reply)> run;
};

/// The commands of a program by name, and `help`, which lists them.
class CommandTable {
 public:
  explicit CommandTable(std::vector<Command> commands);

  /// Runs the command in a line of words separated by blanks. Unknown commands, too many arguments and exceptions
  /// thrown by a command are failures. The line may be anything.
  void run(std::string_view line, const Reply& reply) const;

 private:
  [[nodiscard]] Answer help() const;
  std::vector<Command> commands_;
};

/// The failure for a word that is not known: says what it is called now where it was renamed, else gives the advice.
[[nodiscard]] Answer unknown_word(const std::string& kind, const std::string& word, const std::string& advice);

/// A whole number from a command's argument; nothing when malformed or outside the range.
[[nodiscard]] std::optional<std::size_t> parse_count(std::string_view text, std::size_t min, std::size_t max);

}  // namespace sluice::admin
