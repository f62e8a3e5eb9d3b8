// Reading of decision logs: values, enumerations and objects from JSON, each with its permitted range. Used by Replay
// for every line. A log is input from outside, so a missing, unknown or out-of-range value throws ReplayError with its
// place and what was expected.

#include "control/decision_log/read_fields.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::control {
namespace {

using Json = nlohmann::json;

/// Limit of whole numbers of bytes in a decision log. It is large, because stream positions grow during the whole
/// connection.
constexpr std::int64_t max_bytes = std::int64_t{1} << 50U;
constexpr Duration longest = std::chrono::seconds(1'000'000);

/// Parses an amount such as "20ms"; returns nothing if the JSON value is no string. Throws ReplayError if the unit is
/// not `unit`. The text of the error states `place`, the field of the log, and `expected`, what was expected there.
std::optional<Reference> amount_in(const Json& json, Reference::Unit unit, const FieldPlace& place,
                                   std::string_view expected) {
  if (!json.is_string()) return std::nullopt;
  const auto amount = Reference::parse(json.get_ref<const std::string&>());
  if (!amount || amount->unit() != unit) place.refuse(expected);
  return amount;
}

std::string print(double number) {
  return Json(number).dump();
}

}  // namespace

std::string FieldPlace::path() const {
  if (parent == nullptr || parent->name.empty()) return std::string(name);
  return parent->path() + "." + std::string(name);
}

void FieldPlace::refuse(std::string_view expected) const {
  throw ReplayError(path() + ": expected " + std::string(expected));
}

std::int64_t read_whole(const Json& json, std::int64_t least, std::int64_t most, const FieldPlace& place) {
  const bool known = json.is_number_integer() &&
                     !(json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(furthest));
  if (!known || json.get<std::int64_t>() < least || json.get<std::int64_t>() > most)
    place.refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return json.get<std::int64_t>();
}

std::uint64_t read_count(const Json& json, std::uint64_t most, const FieldPlace& place) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most)
    place.refuse("a whole number from 0 to " + std::to_string(most));
  return json.get<std::uint64_t>();
}

double read_real(const Json& json, double least, double most, const FieldPlace& place) {
  const double number = json.is_number() ? json.get<double>() : std::nan("");
  if (!(number >= least && number <= most)) place.refuse("a number from " + print(least) + " to " + print(most));
  return number;
}

Bytes read_bytes(const Json& json, const FieldPlace& place) {
  const auto text = amount_in(json, Reference::Unit::bytes, place, "bytes, or an amount such as 64KiB");
  if (text) return Bytes(text->value());
  return Bytes(read_whole(json, -max_bytes, max_bytes, place));
}

Duration read_duration(const Json& json, const FieldPlace& place) {
  const auto text = amount_in(json, Reference::Unit::time, place, "nanoseconds, or a time such as 20ms");
  if (text) return from_seconds(std::min(text->value(), to_seconds(longest)));
  return Duration(read_whole(json, -longest.count(), longest.count(), place));
}

Reference read_reference(const Json& json, const FieldPlace& place) {
  const auto amount = json.is_string() ? Reference::parse(json.get_ref<const std::string&>()) : std::nullopt;
  if (!amount) place.refuse("frames, bytes or time, such as 20ms");
  return *amount;
}

std::size_t read_word(const Json& json, std::span<const std::string_view> words, const FieldPlace& place) {
  const auto at =
      json.is_string() ? std::find(words.begin(), words.end(), json.get_ref<const std::string&>()) : words.end();
  if (at == words.end()) {
    std::string all;
    for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
    place.refuse("one of " + all);
  }
  return static_cast<std::size_t>(at - words.begin());
}

FieldReader::FieldReader(const Json& object, const FieldPlace& place) : object_(object), place_(place) {
  if (!object.is_object()) place.refuse("an object");
}

const Json& FieldReader::member(std::string_view name) {
  const auto at = object_.find(name);
  if (at == object_.end()) FieldPlace{&place_, name}.refuse("to be there");
  seen_.push_back(name);
  return *at;
}

void FieldReader::refuse_others() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(seen_.begin(), seen_.end(), name) == seen_.end())
      FieldPlace{&place_, name}.refuse("not to be there: no such name is known");
  }
}

}  // namespace sluice::control
