// The operator's socket is open to every process of a user: whatever a client says, each line gets one answer, and
// whatever an answer says, nothing of it that a terminal would obey is printed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/command.hpp"

namespace {

using namespace sluice::admin;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Commands that do with their words what the programs' do.
CommandTable commands() {
  using Words = std::vector<std::string>;
  return CommandTable({
      {"list", "[LIMIT]", "a row for each", 1,
       [](const Words& words, const Reply& reply) {
         const auto limit = words.empty() ? std::optional<std::size_t>(3) : parse_count(words[0], 1, 20);
         if (!limit) return reply(Answer::failure("no limit: " + words[0]));
         Json rows = Json::array();
         for (std::size_t i = 0; i < *limit; ++i) rows.push_back({{"row", i}, {"word", words.empty() ? "" : words[0]}});
         reply(Answer::success(std::move(rows)));
       }},
      {"echo", "[WORD…]", "an object of all words", 64,
       [](const Words& words, const Reply& reply) {
         Json object = Json::object();
         for (const std::string& word : words) object[word] = {{"size", word.size()}, {word, word}};
         reply(Answer::success(std::move(object)));
       }},
      {"throw", "[WORD]", "fails", 1,
       [](const Words& words, const Reply&) { throw std::runtime_error(words.empty() ? "" : words[0]); }},
  });
}

void require_printable(const Answer& answer) {
  for (const char c : to_table(answer.value)) {
    const auto octet = static_cast<unsigned char>(c);
    require((octet >= 0x20 && octet != 0x7f) || c == '\n');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CommandTable table = commands();
  const std::string text(data, data + size);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    int answers = 0;
    table.run(line, [&answers](const Answer& answer) {
      ++answers;
      const std::string wire = answer.to_line();
      require(wire.find('\n') == wire.size() - 1);
      const Answer parsed = Answer::from_line(std::string_view(wire).substr(0, wire.size() - 1));
      require(parsed.ok == answer.ok);
      require_printable(parsed);
    });
    require(answers == 1);
    const Answer claimed = Answer::from_line(line);
    require(claimed.ok || claimed.value.is_string());
    require_printable(claimed);
  }
  return 0;
}
