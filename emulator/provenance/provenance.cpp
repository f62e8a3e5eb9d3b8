// Reads and writes provenance.json, which lists all that is needed to repeat a result. `nodeb run` and `live` write it,
// `nodeb verify` and `report` read it.
// The text may come from anywhere: types, sizes and file names are checked first.

#include "emulator/provenance/provenance.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format = 1;
constexpr std::size_t max_entries = 100'000;
constexpr std::uint64_t max_seeds = 10'000;

Json json_of(const Input& input) {
  Json json = {{"name", input.name}, {"sha256", input.sha256}};
  if (!input.text.empty()) json["text"] = input.text;
  return json;
}

Json json_of(const Build& build) {
  return {{"version", build.version},   {"commit", build.commit},     {"sources", build.sources},
          {"modified", build.modified}, {"compiler", build.compiler}, {"build", build.type},
          {"sha256", build.sha256}};
}

Json json_of(const Machine& machine) {
  return {{"kernel", machine.kernel}, {"processor", machine.processor}, {"library", machine.library}};
}

Json json_of(const WrittenFile& file) {
  return {{"name", file.name}, {"sha256", file.sha256}};
}

template <typename T>
Json json_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& item : list) json.push_back(json_of(item));
  return json;
}

[[noreturn]] void refuse(const std::string& key, const std::string& expected) {
  throw std::runtime_error(key + ": expected " + expected);
}

const Json& member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) refuse(key, "a value, got none");
  return json.at(key);
}

std::string text_in(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_string()) refuse(key, "a text");
  return value.get<std::string>();
}

std::string digest_in(const Json& json) {
  std::string digest = text_in(json, "sha256");
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
    refuse("sha256", "64 small hexadecimal digits");
  }
  return digest;
}

const Json& list_in(const Json& json, const char* key) {
  const Json& list = member(json, key);
  if (!list.is_array() || list.size() > max_entries) refuse(key, "a list");
  return list;
}

std::vector<std::string> texts_in(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& item : list_in(json, key)) {
    if (!item.is_string()) refuse(key, "texts");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<std::uint64_t> numbers_in(const Json& json, const char* key) {
  std::vector<std::uint64_t> numbers;
  for (const Json& item : list_in(json, key)) {
    if (!item.is_number_unsigned()) refuse(key, "whole numbers");
    numbers.push_back(item.get<std::uint64_t>());
  }
  return numbers;
}

Input scenario_in(const Json& json) {
  return {text_in(json, "name"), digest_in(json), text_in(json, "text"), {}};
}

Input trace_in(const Json& json) {
  return {text_in(json, "name"), digest_in(json), {}, {}};
}

template <typename T>
std::vector<T> list_of(const Json& json, const char* key, T (*read)(const Json&)) {
  std::vector<T> list;
  for (const Json& item : list_in(json, key)) list.push_back(read(item));
  return list;
}

Build build_in(const Json& json) {
  const Json& modified = member(json, "modified");
  if (!modified.is_boolean()) refuse("modified", "true or false");
  return {text_in(json, "version"),  text_in(json, "commit"), text_in(json, "sources"), modified.get<bool>(),
          text_in(json, "compiler"), text_in(json, "build"),  digest_in(json)};
}

Machine machine_in(const Json& json) {
  return {text_in(json, "kernel"), text_in(json, "processor"), text_in(json, "library")};
}

/// Reads the name and digest of a result file. Only names that nodeb itself writes are accepted, so that every file
/// lies in the result folder.
WrittenFile file_in(const Json& json) {
  WrittenFile file{text_in(json, "name"), digest_in(json)};
  const bool known = file.name == "report.html" || std::any_of(result_files.begin(), result_files.end(),
                                                               [&](const auto& one) { return file.name == one.name; });
  if (!known) refuse("files", "the name of a file that nodeb writes");
  return file;
}

Json parsed(std::string_view text) {
  if (text.size() > provenance_limit) throw std::runtime_error("is longer than a provenance can be");
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw std::runtime_error("is not JSON");
  if (const Json& number = member(json, "format"); number != format) refuse("format", std::to_string(format));
  return json;
}

}  // namespace

std::string to_json(const Provenance& provenance) {
  const Inputs& inputs = provenance.inputs;
  const Json json = {{"format", format},
                     {"clock", provenance.clock},
                     {"program", json_of(provenance.program)},
                     {"machines", json_of(provenance.machines)},
                     {"scenario", json_of(inputs.scenario)},
                     {"profiles", json_of(inputs.scenarios)},
                     {"traces", json_of(inputs.traces)},
                     {"missing_traces", inputs.missing},
                     {"seeds_per_point", provenance.seeds_per_point},
                     {"seeds", provenance.seeds},
                     {"modes", provenance.modes},
                     {"runs", provenance.runs},
                     {"files", json_of(provenance.files)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Provenance parse_provenance(std::string_view text) {
  const Json json = parsed(text);
  Provenance read;
  read.clock = text_in(json, "clock");
  if (read.clock == "several") throw std::runtime_error("is of a report of several results: verify each of them");
  if (read.clock != "virtual" && read.clock != "real") refuse("clock", "virtual or real");
  read.program = build_in(member(json, "program"));
  read.machines = list_of(json, "machines", machine_in);
  read.inputs.scenario = scenario_in(member(json, "scenario"));
  read.inputs.scenarios = list_of(json, "profiles", scenario_in);
  read.inputs.traces = list_of(json, "traces", trace_in);
  read.inputs.missing = texts_in(json, "missing_traces");
  const Json& seeds = member(json, "seeds_per_point");
  if (!seeds.is_number_unsigned() || seeds.get<std::uint64_t>() < 1 || seeds.get<std::uint64_t>() > max_seeds) {
    refuse("seeds_per_point", "1 to " + std::to_string(max_seeds));
  }
  read.seeds_per_point = seeds.get<std::uint32_t>();
  read.seeds = numbers_in(json, "seeds");
  read.modes = texts_in(json, "modes");
  for (const std::uint64_t run : numbers_in(json, "runs")) read.runs.push_back(run);
  read.files = list_of(json, "files", file_in);
  return read;
}

}  // namespace sluice::emulator
