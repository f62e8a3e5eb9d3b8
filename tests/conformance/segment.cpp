// Segments in the words of a script.

#include <array>
#include <functional>
#include <utility>

#include "tests/conformance/script.hpp"

namespace sluice::conformance {
namespace {

constexpr std::array<std::pair<char, std::uint16_t>, 9> flag_letters = {{{'S', bit::syn},
                                                                         {'F', bit::fin},
                                                                         {'R', bit::rst},
                                                                         {'P', bit::psh},
                                                                         {'U', bit::urg},
                                                                         {'E', bit::ece},
                                                                         {'W', bit::cwr},
                                                                         {'A', bit::ae},
                                                                         {'.', bit::ack}}};

const std::map<std::string, std::uint8_t> option_names = {{"mss", kind::mss},
                                                          {"ws", kind::scale},
                                                          {"sackok", kind::sack_permitted},
                                                          {"sack", kind::sack},
                                                          {"ts", kind::timestamps}};

std::uint16_t read_flags(const std::string& word) {
  std::uint16_t flags = 0;
  if (word == "-") return 0;
  for (const char letter : word) {
    std::uint16_t flag = 0;
    for (const auto& [known, bits] : flag_letters) flag = known == letter ? bits : flag;
    if (flag == 0) throw ScriptError("expected flags such as S. or P., got " + word);
    flags |= flag;
  }
  return flags;
}

Octets option(std::uint8_t which, const Octets& content) {
  Octets whole = {which, static_cast<std::uint8_t>(content.size() + 2)};
  whole.insert(whole.end(), content.begin(), content.end());
  return whole;
}

Octets sack_blocks(Words& words) {
  Octets blocks;
  for (std::size_t colon = 0; (colon = words.peek().find(':')) != std::string::npos;) {
    const std::string block = words.next();
    append_big_endian(blocks, number_of(block.substr(0, colon)), 4);
    append_big_endian(blocks, number_of(block.substr(colon + 1)), 4);
  }
  if (blocks.empty()) throw ScriptError("expected blocks such as 2001:3001");
  return option(kind::sack, blocks);
}

/// Takes an option, if the next word names one.
bool take_option(Words& words, Segment& segment) {
  auto& options = segment.options;
  Octets content;
  if (words.take("nop")) {
    options.push_back({kind::nop});
  } else if (words.take("eol")) {
    options.push_back({kind::end});
  } else if (words.take("mss")) {
    append_big_endian(content, words.number(0xffff), 2);
    options.push_back(option(kind::mss, content));
  } else if (words.take("ws")) {
    options.push_back(option(kind::scale, {static_cast<std::uint8_t>(words.number(255))}));
  } else if (words.take("sackok")) {
    options.push_back(option(kind::sack_permitted, {}));
  } else if (words.take("sack")) {
    options.push_back(sack_blocks(words));
  } else if (words.take("ts")) {
    append_big_endian(content, words.number(), 4);
    append_big_endian(content, words.number(), 4);
    options.push_back(option(kind::timestamps, content));
  } else if (words.take("option")) {
    const auto which = static_cast<std::uint8_t>(words.number(255));
    options.push_back(option(which, words.peek() == "empty" ? (words.next(), Octets()) : words.hexadecimal()));
  } else if (words.take("raw-option")) {
    options.push_back(words.hexadecimal());
  } else {
    return false;
  }
  return true;
}

void take_absent(Words& words, Segment& segment) {
  const std::string name = words.next();
  const auto found = option_names.find(name);
  if (found == option_names.end()) throw ScriptError("expected an option after `no`, got " + name);
  segment.absent.insert(found->second);
}

void take_tag(Words& words, Segment& segment) {
  const Octets type = words.hexadecimal();
  if (type.size() != 2) throw ScriptError("expected the type of a tag such as 8100");
  const std::uint32_t priority = words.number(7);
  const std::uint32_t id = words.number(4095);
  if (!segment.tags) segment.tags.emplace();
  segment.tags->push_back(
      {static_cast<std::uint16_t>(big_endian(type, 0, 2)), static_cast<std::uint16_t>(priority << 13U | id)});
}

using Take = std::function<void(Words&, Segment&)>;

const std::map<std::string, Take>& attributes() {
  static const std::map<std::string, Take> table = {
      {"ack", [](Words& w, Segment& s) { s.ack = w.number(); }},
      {"win", [](Words& w, Segment& s) { s.window = static_cast<std::uint16_t>(w.number(0xffff)); }},
      {"urg", [](Words& w, Segment& s) { s.urgent = static_cast<std::uint16_t>(w.number(0xffff)); }},
      {"no", take_absent},
      {"not-ect", [](Words&, Segment& s) { s.ecn = std::uint8_t{0}; }},
      {"ect1", [](Words&, Segment& s) { s.ecn = std::uint8_t{1}; }},
      {"ect0", [](Words&, Segment& s) { s.ecn = std::uint8_t{2}; }},
      {"ce", [](Words&, Segment& s) { s.ecn = std::uint8_t{3}; }},
      {"dscp", [](Words& w, Segment& s) { s.dscp = static_cast<std::uint8_t>(w.number(63)); }},
      {"ttl", [](Words& w, Segment& s) { s.hops = static_cast<std::uint8_t>(w.number(255)); }},
      {"df", [](Words&, Segment& s) { s.dont_fragment = true; }},
      {"not-df", [](Words&, Segment& s) { s.dont_fragment = false; }},
      {"tag", take_tag},
      {"untagged", [](Words&, Segment& s) { s.tags.emplace(); }},
      {"offset", [](Words& w, Segment& s) { s.offset = static_cast<std::uint16_t>(w.number(0x1fff)); }},
      {"mf", [](Words&, Segment& s) { s.more_fragments = true; }},
      {"ip-options", [](Words& w, Segment& s) { s.between = w.hexadecimal(); }},
      {"extension",
       [](Words& w, Segment& s) {
         s.first_header = static_cast<std::uint8_t>(w.number(255));
         s.between = w.hexadecimal();
       }},
      {"bad-sum", [](Words&, Segment& s) { s.sum = Sum::bad; }},
      {"zero-sum", [](Words&, Segment& s) { s.sum = Sum::zero; }},
      {"partial-sum", [](Words&, Segment& s) { s.sum = Sum::partial; }},
      {"bad-ip-sum", [](Words&, Segment& s) { s.good_ip_sum = false; }},
      {"other-bytes", [](Words&, Segment& s) { s.other_bytes = true; }},
  };
  return table;
}

}  // namespace

void read_options(Words& words, Segment& segment) {
  while (take_option(words, segment)) continue;
}

Segment read_segment(Words& words) {
  Segment segment;
  segment.flags = read_flags(words.next());
  const std::string place = words.next();
  const std::size_t colon = place.find(':');
  segment.seq = number_of(place.substr(0, colon));
  if (colon != std::string::npos) segment.length = number_of(place.substr(colon + 1)) - segment.seq;
  if (segment.length > 0xffff) throw ScriptError("a segment of " + std::to_string(segment.length) + " octets");
  while (!words.empty()) {
    if (take_option(words, segment)) continue;
    const auto found = attributes().find(words.peek());
    if (found == attributes().end()) throw ScriptError("expected what a segment can have, got " + words.peek());
    words.next();
    found->second(words, segment);
  }
  return segment;
}

std::string describe(const Wire& wire) {
  std::string text;
  for (const auto& [letter, flag] : flag_letters) text += wire.has(flag) ? std::string(1, letter) : "";
  if (text.empty()) text = "-";
  text += " " + std::to_string(wire.seq);
  if (!wire.payload.empty()) text += ":" + std::to_string(wire.seq + static_cast<std::uint32_t>(wire.payload.size()));
  if (wire.has(bit::ack)) text += " ack " + std::to_string(wire.ack);
  text += " win " + std::to_string(wire.window);
  if (wire.has(bit::urg)) text += " urg " + std::to_string(wire.urgent);
  for (const auto& [which, content] : options_of(wire)) {
    std::string name = "option " + std::to_string(which);
    for (const auto& [known, number] : option_names) name = number == which ? known : name;
    text += " " + name;
    const std::size_t step = content.size() > 4 ? 4 : content.size();
    for (std::size_t at = 0; step > 0 && at + step <= content.size(); at += step) {
      const bool right_edge = which == kind::sack && at % 8 != 0;
      text += (right_edge ? ":" : " ") + std::to_string(big_endian(content, at, step));
    }
  }
  constexpr std::array<const char*, 4> codepoints = {"", " ect1", " ect0", " ce"};
  text += codepoints[wire.tos & 3U];
  if (wire.tos > 3) text += " dscp " + std::to_string(wire.tos >> 2U);
  if (wire.family == 4 && !wire.dont_fragment) text += " not-df";
  for (const Tag& tag : wire.tags) {
    text += " tag " + std::to_string(tag.type) + " " + std::to_string(tag.control >> 13U) + " " +
            std::to_string(tag.control & 0xfffU);
  }
  return text;
}

}  // namespace sluice::conformance
