// Tests of the YAML subset of configuration files: keys, positions of errors, and limits against hostile files.
#include "proxy/yaml/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::config
