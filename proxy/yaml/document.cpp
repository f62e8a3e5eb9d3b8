// Parses one YAML document into a tree of Node with positions. The reader of proxy/yaml calls it, and so do the
// reloader and the emulator's plans. Invariant: memory is bounded by the file's size and DocumentLimits, because
// anchors and aliases are refused and nothing is expanded. Syntax: YAML 1.2, by yaml-cpp.
#include "proxy/yaml/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace sluice::config {
namespace {

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

/// Thrown to stop the YAML parser after an error. The rest of the file is then not read.
struct GiveUp {};

/// Builds the tree of a document from the events of the YAML parser. Aliases are refused, so that the tree contains
/// only what is written in the file.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const std::string& file, std::vector<Error>& errors, const DocumentLimits& limits)
      : file_(file), errors_(errors), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add({.kind = Node::Kind::null, .place = place_of(mark), .text = {}, .items = {}, .entries = {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(place_of(mark), "aliases are not supported", "the value itself", "");
    throw GiveUp{};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    add({.kind = Node::Kind::scalar, .place = place_of(mark), .text = value, .items = {}, .entries = {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] Node take() { return std::move(root_); }

 private:
  /// List or map that is not completely read yet.
  struct Frame {
    Node node;
    bool has_key = false;
    std::string key;
    Place key_place;
    std::map<std::string, std::size_t> lines;  ///< line number of each key that the map contains so far
  };

  void fail(Place place, std::string what, std::string expected, std::string got) {
    errors_.push_back({file_, place, std::move(what), std::move(expected), std::move(got)});
    if (errors_.size() >= limits_.errors) throw GiveUp{};
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    fail(place_of(mark), "anchors are not supported", "the value itself", "");
    throw GiveUp{};
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    // The parser reports the tag "?" for a plain and "!" for a quoted scalar.
    if (tag.empty() || tag == "?" || tag == "!") return;
    fail(place_of(mark), "tags are not supported", "a plain value", "\"" + tag.substr(0, 80) + "\"");
  }
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (stack_.size() >= limits_.depth) {
      fail(place_of(mark), "nested too deep", "at most " + std::to_string(limits_.depth) + " levels", "");
      throw GiveUp{};
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place_of(mark);
    stack_.push_back(std::move(frame));
  }
  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }
  void add(Node node) {
    if (++nodes_ > limits_.nodes) {
      fail(node.place, "too many values", "at most " + std::to_string(limits_.nodes), "");
      throw GiveUp{};
    }
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (Frame& top = stack_.back(); top.node.kind == Node::Kind::list) {
      top.node.items.push_back(std::move(node));
    } else if (!top.has_key) {
      take_key(top, std::move(node));
    } else {
      add_entry(top, std::move(node));
    }
  }
  void take_key(Frame& top, Node node) {
    if (node.kind != Node::Kind::scalar) fail(node.place, "bad key", "a name", node.to_string());
    top.has_key = true;
    top.key = std::move(node.text);
    top.key_place = node.place;
  }
  void add_entry(Frame& top, Node node) {
    top.has_key = false;
    // An empty value is reported at its key, because the parser's mark is that of the next token in the file.
    if (node.kind == Node::Kind::null) node.place = top.key_place;
    const auto [first, fresh] = top.lines.emplace(top.key, top.key_place.line);
    if (!fresh) {
      fail(top.key_place, "duplicate key '" + top.key.substr(0, 80) + "'",
           "one (the first is in line " + std::to_string(first->second) + ")", "");
      return;
    }
    top.node.entries.push_back({std::move(top.key), top.key_place, std::move(node)});
  }

  const std::string& file_;
  std::vector<Error>& errors_;
  const DocumentLimits& limits_;
  std::vector<Frame> stack_;
  Node root_;
  std::size_t nodes_ = 0;
};

}  // namespace

const Entry* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string Node::to_string() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
    case Kind::scalar:
      break;
  }
  std::string shown = "\"";
  for (const char c : text.substr(0, 80)) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return shown + (text.size() > 80 ? "…\"" : "\"");
}

Node parse_document(std::string_view text, const std::string& file, std::vector<Error>& errors,
                    const DocumentLimits& limits) {
  Node root;
  root.kind = Node::Kind::map;
  root.place = {1, 1};
  if (text.size() > limits.bytes) {
    errors.push_back({file, {}, "file too long", "at most " + std::to_string(limits.bytes) + " bytes", ""});
    return root;
  }
  Builder builder(file, errors, limits);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return root;
    Node read = builder.take();
    if (read.kind != Node::Kind::null) root = std::move(read);
    Builder second(file, errors, limits);
    if (parser.HandleNextDocument(second)) {
      errors.push_back({file, {}, "more than one document in the file", "one", ""});
    }
  } catch (const GiveUp&) {
  } catch (const YAML::Exception& exception) {
    errors.push_back({file, place_of(exception.mark), "syntax error: " + exception.msg, "", ""});
  }
  return root;
}

std::string read_text(const std::string& file, std::size_t limit, std::vector<Error>& errors) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (stream) {
    text.resize(limit + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    errors.push_back({file, {}, std::string("cannot be read: ") + std::strerror(errno), "", ""});
    return {};
  }
  if (text.size() > limit) {
    errors.push_back({file, {}, "file too long", "at most " + std::to_string(limit) + " bytes", ""});
    return {};
  }
  return text;
}

}  // namespace sluice::config
