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

/// JSON value whose keys keep their order, which is the order of columns in tables.
using Json = nlohmann::ordered_json;

/// Result of a command: a JSON value, or an error message.
struct Answer {
  bool ok = true;
  Json value;  ///< result of the command, or the error message if not ok

  /// Stream of bytes after the line; the connection ends with it. Null if there is none.
  std::shared_ptr<ByteStream> stream{};

  [[nodiscard]] static Answer success(Json value) { return {true, std::move(value)}; }
  [[nodiscard]] static Answer failure(std::string why) { return {false, std::move(why)}; }
  /// Returns the answer as a line with its end, in the form that is sent to clients: {"ok":true,"result":…} or
  /// {"ok":false,"error":"…"}. Octets that are not UTF-8 are replaced.
  [[nodiscard]] std::string to_line() const;
  /// Parses a line that to_line() has written. A malformed line becomes a failure.
  [[nodiscard]] static Answer from_line(std::string_view line);
};

/// Callback that receives the answer, at most once, now or later, on the thread of the server's io_context.
using Reply = std::function<void(Answer)>;

/// Command that a program accepts on its admin socket, with its implementation.
struct Command {
  std::string name;       ///< word by which the user calls the command
  std::string arguments;  ///< arguments in the form of the help text, such as "[LIMIT]"
  std::string help;
  std::size_t max_arguments = 0;
  std::function<void(const std::vector<std::string>& arguments, Reply reply)> run;
};

/// Table of a program's commands by name; adds the command `help`, which lists them.
class CommandTable {
 public:
  explicit CommandTable(std::vector<Command> commands);

  /// Runs the command in a line of words separated by blanks. Unknown commands, too many arguments and exceptions of
  /// a command become failures. The line is not trusted.
  void run(std::string_view line, const Reply& reply) const;

 private:
  [[nodiscard]] Answer help() const;
  std::vector<Command> commands_;
};

/// Returns "did you mean X?" for the nearest of the known words, or `otherwise` if none is near.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                                     const std::string& otherwise);

/// Returns the failure for an unknown word. Its text contains the word's new name if the word was renamed, else
/// `advice`.
[[nodiscard]] Answer unknown_word(const std::string& kind, const std::string& word, const std::string& advice);

/// Parses a whole number from min to max. Returns nothing if it is malformed or out of range.
[[nodiscard]] std::optional<std::size_t> parse_count(std::string_view text, std::size_t min, std::size_t max);

}  // namespace sluice::admin
