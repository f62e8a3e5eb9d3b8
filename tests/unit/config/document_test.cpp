// Tests of the YAML subset of configuration files: keys, positions of errors, and limits against hostile files.
#include "proxy/yaml/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace sluice::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Parsed {
  Node root;
  std::vector<Error> errors;
};

Parsed parse_text(std::string_view text, const DocumentLimits& limits = {}) {
  Parsed parsed;
  parsed.root = parse_document(text, "f.yaml", parsed.errors, limits);
  return parsed;
}

std::string only_error(const Parsed& parsed) {
  EXPECT_EQ(parsed.errors.size(), 1U) << to_string(parsed.errors);
  return parsed.errors.empty() ? std::string() : parsed.errors.front().to_string();
}

TEST(Document, KeepsKeysValuesAndTheirPositions) {
  const Parsed parsed = parse_text("a: 1\nb:\n  - x\n  - c: \"two words\"\n");
  ASSERT_THAT(parsed.errors, IsEmpty());
  const Entry* a = parsed.root.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->place, (Place{1, 1}));
  EXPECT_EQ(a->value.place, (Place{1, 4}));
  EXPECT_EQ(a->value.text, "1");
  const Entry* b = parsed.root.find("b");
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(b->value.items.size(), 2U);
  EXPECT_EQ(b->value.items[0].place, (Place{3, 5}));
  EXPECT_EQ(b->value.items[1].find("c")->value.text, "two words");
  EXPECT_EQ(parsed.root.find("c"), nullptr);
}

TEST(Document, AnEmptyFileIsAnEmptyMap) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
    const Parsed parsed = parse_text(text);
    EXPECT_THAT(parsed.errors, IsEmpty()) << text;
    EXPECT_EQ(parsed.root.kind, Node::Kind::map) << text;
  }
}

TEST(Document, DuplicateKeysAreRefusedAtTheSecondOne) {
  EXPECT_EQ(only_error(parse_text("a: 1\nb: 2\n a : 3\n")).substr(0, 7), "f.yaml:");
  EXPECT_EQ(only_error(parse_text("a: 1\nb: 2\na: 3\n")),
            "f.yaml:3:1: duplicate key 'a', expected one (the first is in line 1)");
  EXPECT_EQ(only_error(parse_text("m:\n  a: 1\n  a: 1\n")),
            "f.yaml:3:3: duplicate key 'a', expected one (the first is in line 2)");
}

TEST(Document, SyntaxErrorsHaveAPosition) {
  EXPECT_THAT(only_error(parse_text("a: [1, 2\nb: 3\n")), HasSubstr("f.yaml:2:2: syntax error"));
  EXPECT_THAT(only_error(parse_text("a: }\n")), HasSubstr("f.yaml:1:4: syntax error"));
}

TEST(Document, AnchorsAliasesTagsAndFurtherDocumentsAreRefused) {
  EXPECT_EQ(only_error(parse_text("a: &x 1\nb: *x\n")),
            "f.yaml:1:4: anchors are not supported, expected the value itself");
  EXPECT_THAT(only_error(parse_text("a: *x\n")), HasSubstr("f.yaml:1:4"));
  EXPECT_THAT(only_error(parse_text("a: !!int 1\n")), HasSubstr("tags are not supported"));
  EXPECT_THAT(only_error(parse_text("a: 1\n---\nb: 2\n")), HasSubstr("more than one document"));
}

TEST(Document, AnAliasBombIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(only_error(parse_text(bomb)), HasSubstr("f.yaml:1:5: anchors are not supported"));
}

TEST(Document, KeysMustBeNames) {
  EXPECT_EQ(only_error(parse_text("[1, 2]: x\n")), "f.yaml:1:1: bad key, expected a name, got a list");
}

TEST(Document, DepthSizeAndCountAreBounded) {
  EXPECT_THAT(only_error(parse_text(std::string(100'000, '['))), HasSubstr("nested too deep, expected at most 24"));
  EXPECT_THAT(only_error(parse_text("a: {b: {c: 1}}", {.depth = 2})), HasSubstr("f.yaml:1:8: nested too deep"));
  EXPECT_THAT(only_error(parse_text("a: [1, 2, 3, 4]", {.nodes = 4})), HasSubstr("too many values"));
  EXPECT_THAT(only_error(parse_text("a: 12345678", {.bytes = 10})), HasSubstr("file too long, expected at most 10"));
}

TEST(Document, ManyKeysAreParsedInLinearTime) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(parse_text(text).root.entries.size(), 20'000U);
}

TEST(ReadText, UnreadableFilesAreNamed) {
  std::vector<Error> errors;
  EXPECT_EQ(read_text("/nonexistent/x.yaml", 10, errors), "");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].to_string(), "/nonexistent/x.yaml: cannot be read: No such file or directory");
  errors.clear();
  EXPECT_EQ(read_text("/", 10, errors), "");
  EXPECT_EQ(to_string(errors), "/: cannot be read: Is a directory\n");
}

TEST(ReadText, EndlessFilesAreRefused) {
  std::vector<Error> errors;
  EXPECT_EQ(read_text("/dev/zero", 1000, errors), "");
  EXPECT_EQ(to_string(errors), "/dev/zero: file too long, expected at most 1000 bytes\n");
}

/// Files of a configuration in a folder of their own.
class Included : public testing::Test {
 protected:
  Included() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-include-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    unsetenv("SLUICE_TEST");
  }
  ~Included() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Node load(const std::string& name) {
    errors_.clear();
    return load_document((folder_ / name).string(), errors_);
  }
  /// Returns the only error, without the folder's name.
  std::string error_of(const std::string& name) {
    static_cast<void>(load(name));
    EXPECT_EQ(errors_.size(), 1U) << to_string(errors_);
    std::string text = errors_.empty() ? "" : errors_.front().to_string();
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  static std::string text_at(const Node& root, std::string_view first, std::string_view second = {}) {
    const Entry* entry = root.find(first);
    if (entry != nullptr && !second.empty()) entry = entry->value.find(second);
    return entry == nullptr ? "absent" : entry->value.text;
  }

  std::filesystem::path folder_;
  std::vector<Error> errors_;
};

TEST_F(Included, AFileWinsOverThoseThatItIncludesAndMapsAreMerged) {
  write("main.yaml", "include: [first.yaml, below/second.yaml]\nmode: main\nports: {radio: main}\n");
  write("first.yaml", "mode: first\nonly: first\nboth: first\nports: {core: first, radio: first}\n");
  write("below/second.yaml", "include: third.yaml\nboth: second\n");
  write("below/third.yaml", "deep: third\nboth: third\n");
  const Node root = load("main.yaml");
  ASSERT_THAT(errors_, IsEmpty()) << to_string(errors_);
  EXPECT_EQ(text_at(root, "mode"), "main");
  EXPECT_EQ(text_at(root, "only"), "first");
  EXPECT_EQ(text_at(root, "both"), "second") << "a later file wins";
  EXPECT_EQ(text_at(root, "deep"), "third") << "relative to the file that names it";
  EXPECT_EQ(text_at(root, "ports", "core"), "first");
  EXPECT_EQ(text_at(root, "ports", "radio"), "main");
  EXPECT_EQ(root.find("include"), nullptr);
  EXPECT_EQ(root.included_files.size(), 3U);
  EXPECT_EQ(file_of(root, root.find("deep")->place, "main"), (folder_ / "below/third.yaml").string());
  EXPECT_EQ(file_of(root, root.find("mode")->place, "main"), "main");
}

TEST_F(Included, AnErrorNamesTheIncludedFileAndItsLine) {
  write("main.yaml", "include: [part.yaml]\n");
  write("part.yaml", "ok: 1\nbad: [1\n");
  EXPECT_THAT(error_of("main.yaml"), HasSubstr("part.yaml:3:1: syntax error"));
  write("part.yaml", "- 1\n");
  EXPECT_EQ(error_of("main.yaml"), "part.yaml:1:1: the file, expected a map of keys and values, got a list");
}

TEST_F(Included, FilesThatIncludeThemselvesOrAreMissingAreRefused) {
  write("main.yaml", "a: 1\ninclude: [part.yaml]\n");
  EXPECT_EQ(
      error_of("main.yaml"),
      "main.yaml:2:11: include, expected a file that can be read, got \"part.yaml\" (cannot be read: No such file "
      "or directory)");
  write("part.yaml", "include: ./main.yaml\n");
  EXPECT_EQ(error_of("main.yaml"),
            "part.yaml:1:10: include, expected a file that does not include this one, got \"./main.yaml\"");
  write("main.yaml", "include: {a: b}\n");
  EXPECT_EQ(error_of("main.yaml"), "main.yaml:1:1: include, expected a file or a list of files, got a map");
  write("main.yaml", "include: []\n");
  EXPECT_EQ(error_of("main.yaml"), "main.yaml:1:1: include, expected a file or a list of files, got a list");
}

TEST_F(Included, TheNumberOfFilesIsBounded) {
  write("leaf.yaml", "a: 1\n");
  std::string names;
  for (int i = 0; i < 100; ++i) names += "  - leaf.yaml\n";
  write("main.yaml", "include:\n" + names);
  static_cast<void>(load("main.yaml"));
  ASSERT_FALSE(errors_.empty());
  EXPECT_THAT(errors_.front().to_string(), HasSubstr("expected at most 64 files in all"));
}

TEST_F(Included, VariablesOfTheEnvironmentAreInsertedAsText) {
  write("main.yaml", "a: ${SLUICE_TEST}\nb: \"x${SLUICE_TEST}y${SLUICE_TEST}\"\nc: $${SLUICE_TEST}\nd: [ $HOME ]\n");
  setenv("SLUICE_TEST", "{k: [1]}", 1);
  const Node root = load("main.yaml");
  ASSERT_THAT(errors_, IsEmpty()) << to_string(errors_);
  EXPECT_EQ(root.find("a")->value.kind, Node::Kind::scalar) << "never parsed as YAML";
  EXPECT_EQ(text_at(root, "a"), "{k: [1]}");
  EXPECT_EQ(text_at(root, "b"), "x{k: [1]}y{k: [1]}");
  EXPECT_EQ(text_at(root, "c"), "${SLUICE_TEST}");
  EXPECT_EQ(root.find("d")->value.items.front().text, "$HOME");
}

TEST_F(Included, AVariableThatIsNotSetIsAnErrorWithItsPlace) {
  write("main.yaml", "include: part.yaml\n");
  write("part.yaml", "a: 1\nb: ${SLUICE_TEST}\n");
  EXPECT_EQ(error_of("main.yaml"), "part.yaml:2:4: ${SLUICE_TEST}, expected an environment variable that is set");
  write("part.yaml", "b: ${SLUICE_TEST\n");
  EXPECT_THAT(error_of("main.yaml"),
              HasSubstr("part.yaml:1:4: ${, expected the name of an environment variable and }"));
  write("part.yaml", "b: ${1}\n");
  EXPECT_THAT(error_of("main.yaml"), HasSubstr("part.yaml:1:4: ${, expected the name"));
  setenv("SLUICE_TEST", "two\nlines", 1);
  write("part.yaml", "b: ${SLUICE_TEST}\n");
  EXPECT_THAT(error_of("main.yaml"), HasSubstr("expected a variable of one line without control characters"));
}

}  // namespace
}  // namespace sluice::config
