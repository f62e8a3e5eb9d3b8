#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/yaml/spec.hpp"

namespace sluice::config {

class Section;

/// A list of sections.
struct SectionListSpec {
  std::size_t min_size = 0;
  std::size_t max_size = 1024;
  std::size_t size = 0;
  std::function<void()> clear;
  std::function<void()> append;
  std::function<void(Section&, std::size_t)> describe;  ///< of an element that exists
  std::function<void(Section&)> describe_default;       ///< of a fresh one, for the reference
};

/// The keys of one YAML map, declared once:
///
///     void describe(Section& s, Port& port) {
///       s.required().value("device", port.device, "DPDK device arguments");
///       s.value("mtu", port.mtu, {576, 9000}, "largest IP packet in bytes");
///       s.choice("offloads", port.offloads, offload_words, "…");
///     }
///
/// Reading a file, printing the effective configuration and writing the reference are three visitors of the same
/// declarations, so that they cannot drift apart. The default of a key is what the variable holds when it is declared.
/// describe() is found by the namespace of its argument. It must declare every key on every call: where keys depend on
/// another key's value, use when().
class Section {
 public:
  Section() = default;
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  virtual ~Section() = default;

  /// The next key declared must be in the file.
  Section& required() {
    required_ = true;
    return *this;
  }
  /// The keys that `keys` declares can be changed while the program runs: live_keys().
  void live(const std::function<void()>& keys) {
    const bool outer = std::exchange(live_, true);
    keys();
    live_ = outer;
  }
  /// The next key's value is not shown by print() unless asked for.
  Section& secret() {
    secret_ = true;
    return *this;
  }

  /// A key of one of the types Scalar knows. Optional types may be left out and then are not set.
  template <typename T>
  void value(std::string_view key, T& value, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of(value, detail::whole_range<T>()));
  }
  template <typename T>
  void value(std::string_view key, T& value, const Range<std::type_identity_t<T>>& range, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of(value, std::optional(range)));
  }
  template <typename T>
  void value(std::string_view key, std::optional<T>& value, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_optional(value, detail::whole_range<T>()));
  }
  template <typename T>
  void value(std::string_view key, std::optional<T>& value, const Range<std::type_identity_t<T>>& range,
             std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_optional(value, std::optional(range)));
  }
  /// A number with a unit of its own: quantity("power", c.power, "dBm", {0, 60}, "…") reads "38dBm".
  void quantity(std::string_view key, double& value, std::string_view unit, const Range<double>& range,
                std::string_view help);
  /// One word of a table.
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const Choice<E> (&table)[N], std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const std::array<Choice<E>, N>& table, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  /// A list of scalars with `size` elements; what the file gives replaces the default as a whole.
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, detail::whole_range<T>()));
  }
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size,
            const Range<std::type_identity_t<T>>& range, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, std::optional(range)));
  }
  /// A map below this key, described by describe(Section&, T&).
  template <typename T>
  requires(!std::invocable<T, Section&>) void section(std::string_view key, T& value, std::string_view help) {
    map(take(key, help), [&value](Section& below) { describe(below, value); });
  }
  /// A map below this key, described by a function.
  template <std::invocable<Section&> Body>
  void section(std::string_view key, Body&& body, std::string_view help) {
    map(take(key, help), std::forward<Body>(body));
  }
  /// A map that may be left out; then the value is not set.
  template <typename T>
  void section(std::string_view key, std::optional<T>& value, std::string_view help) {
    optional_map(
        take(key, help), value.has_value(), [&value] { value.emplace(); },
        [&value](Section& below) {
          T fresh{};
          describe(below, value ? *value : fresh);
        });
  }
  /// A list of maps with `size` elements.
  template <typename T>
  void sections(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size, std::string_view help) {
    section_list(take(key, help), {size.min, size.max, values.size(), [&values] { values.clear(); },
                                   [&values] { values.emplace_back(); },
                                   [&values](Section& below, std::size_t index) { describe(below, values[index]); },
                                   [](Section& below) {
                                     T fresh{};
                                     describe(below, fresh);
                                   }});
  }

  /// The same, where what an element leaves out is as in `prototype`.
  template <typename T>
  void sections(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size, const T& prototype,
                std::string_view help) {
    section_list(take(key, help), {size.min, size.max, values.size(), [&values] { values.clear(); },
                                   [&values, prototype] { values.push_back(prototype); },
                                   [&values](Section& below, std::size_t index) { describe(below, values[index]); },
                                   [prototype](Section& below) {
                                     T fresh = prototype;
                                     describe(below, fresh);
                                   }});
  }

  /// Keys that only mean something when `applies` holds: `condition` says when ("model is trace"). In a file where it
  /// does not hold they are refused, with that sentence.
  virtual void when(bool applies, std::string_view condition, const std::function<void()>& keys) = 0;
  /// A rule across keys. When `ok` is false the file is refused at `key` (of this section; the section itself if the
  /// file does not have it, or if empty): "key: what, expected …, got …". "list[2].below" reaches into what stands
  /// below a key. Not evaluated further when keys had errors.
  virtual void check(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// A rule whose breach is reported and not refused.
  virtual void advise(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// The key of this section that this variable was declared with; empty when it is none of a file that is read.
  [[nodiscard]] virtual std::string key_of(const void* /*variable*/) const { return {}; }
  /// A path that stands in the file: relative ones start at the file's folder, not at the working directory.
  [[nodiscard]] std::string resolve(const std::string& path) const;
  /// The file that is read; empty when none is.
  [[nodiscard]] virtual std::string file() const { return {}; }
  /// True while a file is read and every value so far of this section was well-formed: rules across keys mean
  /// something, and so does reading a file that a key names.
  [[nodiscard]] virtual bool reading() const = 0;

 protected:
  /// A key as declared.
  struct Field {
    std::string_view key;
    std::string_view help;
    const void* variable = nullptr;  ///< what it is read into; null where that is no single one
    bool required = false;
    bool secret = false;
    bool live = false;
  };

  virtual void scalar(const Field& field, const ScalarSpec& spec) = 0;
  virtual void scalar_list(const Field& field, const ListSpec& spec) = 0;
  virtual void map(const Field& field, const std::function<void(Section&)>& body) = 0;
  virtual void optional_map(const Field& field, bool present, const std::function<void()>& emplace,
                            const std::function<void(Section&)>& body) = 0;
  virtual void section_list(const Field& field, const SectionListSpec& spec) = 0;

 private:
  Field take(std::string_view key, std::string_view help, const void* variable = nullptr) {
    return {key, help, variable, std::exchange(required_, false), std::exchange(secret_, false), live_};
  }

  bool required_ = false;
  bool secret_ = false;
  bool live_ = false;
};

}  // namespace sluice::config
