// Tests of provenance files, which describe how results were computed. They may come from anywhere, so every field is
// checked.
#include "emulator/provenance/provenance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/unit/provenance/samples.hpp"

namespace sluice::emulator {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_provenance(text));
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
  return "accepted";
}

/// The sample with one value replaced.
std::string with(const std::string& pointer, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(to_json(test::sample_provenance()));
  json[nlohmann::json::json_pointer(pointer)] = value;
  return json.dump();
}

TEST(Provenance, WrittenProvenanceIsReadBack) {
  const std::string text = to_json(test::sample_provenance());
  const Provenance read = parse_provenance(text);
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(read.program, test::sample_provenance().program);
  EXPECT_EQ(read.inputs.scenario.text, "seed: 1\n");
  EXPECT_EQ(read.seeds_per_point, 2U);
}

TEST(Provenance, InvalidProvenanceIsRefusedWithTheReason) {
  EXPECT_EQ(complaint(""), "is not JSON");
  EXPECT_EQ(complaint("[]"), "format: expected a value, got none");
  EXPECT_EQ(complaint(with("/format", 2)), "format: expected 1");
  EXPECT_EQ(complaint(with("/clock", "mine")), "clock: expected virtual or real");
  EXPECT_THAT(complaint(with("/clock", "several")), HasSubstr("verify each of them"));
  EXPECT_EQ(complaint(with("/program/modified", 1)), "modified: expected true or false");
  EXPECT_EQ(complaint(with("/scenario/sha256", "../x")), "sha256: expected 64 small hexadecimal digits");
  EXPECT_EQ(complaint(with("/scenario/text", nullptr)), "text: expected a text");
  EXPECT_EQ(complaint(with("/seeds_per_point", -1)), "seeds_per_point: expected 1 to 10000");
  EXPECT_EQ(complaint(with("/seeds_per_point", 10'001)), "seeds_per_point: expected 1 to 10000");
  EXPECT_EQ(complaint(with("/seeds", {1.5})), "seeds: expected whole numbers");
  EXPECT_EQ(complaint(with("/modes", "smvs")), "modes: expected a list");
  EXPECT_EQ(complaint(with("/machines/0", "here")), "kernel: expected a value, got none");
}

TEST(Provenance, OnlyFilesThatNodebWritesAreAccepted) {
  EXPECT_EQ(complaint(with("/files/0/name", "report.html")), "accepted");
  for (const char* name : {"../results.csv", "/etc/passwd", "provenance.json", ""}) {
    EXPECT_EQ(complaint(with("/files/0/name", name)), "files: expected the name of a file that nodeb writes") << name;
  }
}

TEST(Provenance, DeepNestingIsRefused) {
  EXPECT_EQ(complaint(std::string(1'000'000, '[')), "is not JSON");
}

TEST(Provenance, NamesOutsideTheFolderAreRecognised) {
  for (const char* name : {"a.yaml", "folder/a.yaml", "..a"}) EXPECT_TRUE(stays_below(name)) << name;
  for (const char* name : {"", "/a.yaml", "../a.yaml", "folder/../../a.yaml", "folder/", ".", "./a", "a/.."}) {
    EXPECT_FALSE(stays_below(name)) << name;
  }
  EXPECT_FALSE(stays_below(std::string_view("a\0b", 3)));
}

TEST(Build, UnchangedSourcesHaveOneIdentityPerCompiler) {
  const Build clean{"0.1.0", "abc", "5", false, "g++ 12", "Release", "1"};
  Build other = clean;
  other.sha256 = "2";
  EXPECT_TRUE(same_results(clean, other));
  other.commit = "of documents";
  EXPECT_TRUE(same_results(clean, other));
  other.compiler = "clang++ 14";
  EXPECT_FALSE(same_results(clean, other));
  Build changed = clean;
  changed.modified = true;
  EXPECT_FALSE(same_results(clean, changed));
  EXPECT_TRUE(same_results(changed, changed));
  Build unknown = clean;
  unknown.sources = "";
  other = unknown;
  other.sha256 = "2";
  EXPECT_FALSE(same_results(unknown, other));
}

TEST(Build, ThisBuildHasVersionCommitAndHash) {
  const Build build = this_build("/proc/self/exe");
  EXPECT_FALSE(build.version.empty());
  EXPECT_FALSE(build.commit.empty());
  EXPECT_EQ(build.sha256, sha256_of_file("/proc/self/exe"));
  EXPECT_FALSE(this_machine().kernel.empty());
}

}  // namespace
}  // namespace sluice::emulator
