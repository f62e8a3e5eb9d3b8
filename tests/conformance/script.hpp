#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/conformance/wire.hpp"

namespace sluice::conformance {

/// Error in a line of a script that cannot be executed.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  [[nodiscard]] bool empty() const { return at_ == words_.size(); }
  /// The next word stays the next one; empty at the end.
  [[nodiscard]] std::string peek() const { return empty() ? std::string() : words_[at_]; }
  std::string next();
  /// Takes the next word if it is this one.
  bool take(const std::string& word);
  /// A number modulo 2^32, or a sum of numbers such as 4294967290+20-1.
  std::uint32_t number();
  /// A number that is not greater than this.
  std::uint32_t number(std::uint32_t most);
  Octets hexadecimal();
  void expect_end() const;

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

/// Reads a number, or a sum of numbers; throws ScriptError.
[[nodiscard]] std::uint32_t number_of(const std::string& text);

struct Line {
  int number = 0;
  std::set<std::string> only;  ///< conditions under which the line applies; empty: all
  std::vector<std::string> words;
};

/// A conversation, as a file has it; README.md describes the language.
struct Script {
  std::string file;
  std::map<std::string, std::vector<std::string>> settings;     ///< the lines above `---`, by their first word
  std::map<std::string, std::vector<std::string>> repetitions;  ///< variables, and their values
  std::vector<Line> lines;

  /// The values of a setting, or these where the script has none.
  [[nodiscard]] std::vector<std::string> setting(const std::string& name,
                                                 const std::vector<std::string>& otherwise) const;
};

/// Reads a script; throws ScriptError, whose text begins with file and line.
[[nodiscard]] Script read_script(const std::string& file, const std::string& text);

/// A segment as a line describes it: what is to be sent, or what is expected.
struct Segment {
  std::uint16_t flags = 0;
  std::uint32_t seq = 0;
  std::uint32_t length = 0;  ///< octets of payload
  std::optional<std::uint32_t> ack;
  std::optional<std::uint16_t> window;
  std::optional<std::uint16_t> urgent;
  std::vector<Octets> options;    ///< kind, length and contents; a single octet for NOP and the end of the list
  std::set<std::uint8_t> absent;  ///< kinds of options that are not there
  std::optional<std::uint8_t> ecn;
  std::optional<std::uint8_t> dscp;
  std::optional<std::uint8_t> hops;
  std::optional<bool> dont_fragment;
  std::optional<std::vector<Tag>> tags;
  std::optional<std::uint16_t> offset;  ///< fragment offset, if the packet is a fragment
  bool more_fragments = false;
  Octets between;
  std::uint8_t first_header = 6;
  Sum sum = Sum::good;
  bool good_ip_sum = true;
  bool other_bytes = false;  ///< the payload is not what the stream has there
};

/// Takes all the words of a segment; throws ScriptError.
[[nodiscard]] Segment read_segment(Words& words);
/// The options alone, such as those of `open`, up to a word that is none.
void read_options(Words& words, Segment& segment);

/// What a frame holds, in the words of a script.
[[nodiscard]] std::string describe(const Wire& wire);

}  // namespace sluice::conformance
