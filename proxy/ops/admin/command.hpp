#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/byte_stream.hpp"

namespace sluice::admin {

/// JSON value whose keys keep their order. Their order determines the order of the columns in tables.
using Json = nlohmann::ordered_json;

/// Result of a command: a JSON value, or an error message.
struct Answer {
  bool ok = true;
  Json value;  ///< result of the command, or the text of the error message if `ok` is false

  /// stream of bytes that is sent after the answer, and whose end closes the connection; null if there is none
  std::shared_ptr<ByteStream> stream{};

  [[nodiscard]] static Answer success(Json value) { return {true, std::move(value)}; }
  [[nodiscard]] static Answer failure(std::string why) { return {false, std::move(why)}; }
  /// Returns the answer as the line that is sent to the client: {"ok":true,"result":…} or {"ok":false,"error":"…"}.
  /// Bytes that are not UTF-8 are replaced.
  [[nodiscard]] std::string to_line() const;
  /// Parses a line that to_line() has returned. Returns an answer with `ok` false if the line is malformed.
  [[nodiscard]] static Answer from_line(std::string_view line);
};

/// Callback that takes the answer to a command. It is called at most once, during the command or later, on the thread
/// of the server's io_context.
using Reply = std::function<void(Answer)>;

/// Command of a program's admin socket, and the function that executes it.
struct Command {
  std::string name;       ///< word with which a user calls the command
  std::string arguments;  ///< arguments as the help text shows them, such as "[LIMIT]"
  std::string help;
  std::size_t max_arguments = 0;
  std::function<void(const std::vector<std::string>& arguments, Reply reply)> run;
};

/// Commands of a program, found by name. The command `help`, which lists the others, is added.
class CommandTable {
 public:
  explicit CommandTable(std::vector<Command> commands);

  /// Runs the command in `line`, which consists of words separated by blanks. Replies with an error message for unknown
  /// commands, too many arguments, and exceptions. The line is not trusted.
  void run(std::string_view line, const Reply& reply) const;

 private:
  [[nodiscard]] Answer help() const;
  std::vector<Command> commands_;
};

/// Returns "did you mean X?" with the known word X that is most similar to `word`. Returns `otherwise` if none is
/// similar.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                                     const std::string& otherwise);

/// Returns the error message for an unknown word. Its text contains the new name if the word was renamed, or else
/// `advice`.
[[nodiscard]] Answer unknown_word(const std::string& kind, const std::string& word, const std::string& advice);

/// Parses a whole number between `min` and `max`. Returns nothing if the text is malformed or the number is out of
/// range.
[[nodiscard]] std::optional<std::size_t> parse_count(std::string_view text, std::size_t min, std::size_t max);

}  // namespace sluice::admin
