// Scripts: lines, words and numbers.

#include "tests/conformance/script.hpp"

#include <charconv>
#include <sstream>

namespace sluice::conformance {
namespace {

const std::set<std::string> known_settings = {"modes", "families", "exposure", "ports", "isn", "partial", "shrinks"};

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text.substr(0, text.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void read_setting(const std::vector<std::string>& words, Script& script) {
  const bool repeats = words[0] == "for";
  if (repeats && words.size() < 3) throw ScriptError("`for` needs a name and values");
  if (!repeats && known_settings.count(words[0]) == 0) {
    throw ScriptError("expected a setting or ---, got " + words[0]);
  }
  const auto values = words.begin() + (repeats ? 2 : 1);
  auto& place = repeats ? script.repetitions : script.settings;
  if (!place.try_emplace(repeats ? words[1] : words[0], values, words.end()).second) {
    throw ScriptError((repeats ? words[1] : words[0]) + " is there twice");
  }
}

Line read_line(int number, const std::vector<std::string>& words) {
  Line line{number, {}, {}};
  auto at = words.begin();
  if (at->front() == '[') {
    bool closed = false;
    for (; at != words.end() && !closed; ++at) {
      std::string word = *at;
      if (word.front() == '[') word.erase(0, 1);
      closed = !word.empty() && word.back() == ']';
      if (closed) word.pop_back();
      if (!word.empty()) line.only.insert(word);
    }
    if (!closed) throw ScriptError("expected ]");
  }
  line.words.assign(at, words.end());
  if (line.words.empty()) throw ScriptError("nothing follows ]");
  return line;
}

}  // namespace

std::string Words::next() {
  if (empty()) throw ScriptError("the line ends too early");
  return words_[at_++];
}

bool Words::take(const std::string& word) {
  if (peek() != word || empty()) return false;
  ++at_;
  return true;
}

std::uint32_t number_of(const std::string& text) {
  std::uint32_t sum = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool negative = false;;) {
    std::uint32_t value = 0;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc()) throw ScriptError("expected a number below 2^32, got " + text);
    sum += negative ? 0U - value : value;
    if (rest == end) return sum;
    if (*rest != '+' && *rest != '-') throw ScriptError("expected a number, got " + text);
    negative = *rest == '-';
    at = rest + 1;
  }
}

std::uint32_t Words::number() {
  return number_of(next());
}

std::uint32_t Words::number(std::uint32_t most) {
  const std::string word = peek();
  const std::uint32_t value = number();
  if (value > most) throw ScriptError("expected at most " + std::to_string(most) + ", got " + word);
  return value;
}

Octets Words::hexadecimal() {
  const std::string word = next();
  Octets octets;
  for (std::size_t at = 0; at < word.size(); at += 2) {
    std::uint8_t value = 0;
    const char* const end = word.data() + at + 2;
    if (at + 2 > word.size() || std::from_chars(word.data() + at, end, value, 16).ptr != end) {
      throw ScriptError("expected octets in hexadecimal, got " + word);
    }
    octets.push_back(value);
  }
  return octets;
}

void Words::expect_end() const {
  if (!empty()) throw ScriptError("expected the end of the line, got " + peek());
}

std::vector<std::string> Script::setting(const std::string& name, const std::vector<std::string>& otherwise) const {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

Script read_script(const std::string& file, const std::string& text) {
  Script script;
  script.file = file;
  std::istringstream stream(text);
  std::string content;
  bool begun = false;
  for (int number = 1; std::getline(stream, content); ++number) {
    try {
      const std::vector<std::string> words = split(content);
      if (words.empty()) continue;
      if (begun) {
        script.lines.push_back(read_line(number, words));
      } else if (words[0] == "---") {
        begun = true;
      } else {
        read_setting(words, script);
      }
    } catch (const ScriptError& error) {
      throw ScriptError(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (script.lines.empty()) throw ScriptError(file + ":1: nothing follows ---");
  return script;
}

}  // namespace sluice::conformance
