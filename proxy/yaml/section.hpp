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

/// Functions with which a Section reads, prints and documents a list of maps, whatever the type of its elements.
struct SectionListSpec {
  std::size_t min_size = 0;
  std::size_t max_size = 1024;
  std::size_t size = 0;
  std::function<void()> clear;
  std::function<void()> append;
  std::function<void(Section&, std::size_t)> describe;  ///< describes the keys of the existing element with that index
  std::function<void(Section&)> describe_default;       ///< describes the keys of a new element, for the reference
};

/// Declares the keys of one YAML map, once for reading, printing and the reference:
///
///     void describe(Section& s, Port& port) {
///       s.required().value("device", port.device, "DPDK device arguments");
///       s.value("mtu", port.mtu, {576, 9000}, "largest IP packet in bytes");
///       s.choice("offloads", port.offloads, offload_words, "…");
///     }
///
/// Reading a file, printing the configuration and writing the reference visit the same declarations, so that they
/// cannot differ. The default of a key is the value of its variable at the declaration. describe() is found by
/// argument-dependent lookup. It must declare every key on every call; keys that depend on another key's value are
/// declared in when().
class Section {
 public:
  Section() = default;
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  virtual ~Section() = default;

  /// Makes the key that is declared next mandatory.
  Section& required() {
    required_ = true;
    return *this;
  }
  /// Declares keys that can be changed while the program is running (see live_keys()), by calling `keys`.
  void live(const std::function<void()>& keys) {
    const bool outer = std::exchange(live_, true);
    keys();
    live_ = outer;
  }
  /// Makes print() hide the value of the key that is declared next, unless secrets are to be shown.
  Section& secret() {
    secret_ = true;
    return *this;
  }

  /// Declares a key with a value of a type that has a Scalar. An optional value stays unset if the file omits the key.
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
  /// Declares a number with a unit that has no Scalar: quantity("power", c.power, "dBm", {0, 60}, "…") reads "38dBm".
  void quantity(std::string_view key, double& value, std::string_view unit, const Range<double>& range,
                std::string_view help);
  /// Declares a key whose value is one of the words in `table`. Each word stands for a value of the enum E.
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const Choice<E> (&table)[N], std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const std::array<Choice<E>, N>& table, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  /// Declares a key whose value is a list of scalars with `size` elements. A list in the file replaces the default as a
  /// whole.
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, detail::whole_range<T>()));
  }
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size,
            const Range<std::type_identity_t<T>>& range, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, std::optional(range)));
  }
  /// Declares a key whose value is a map, described by describe(Section&, T&).
  template <typename T>
  requires(!std::invocable<T, Section&>) void section(std::string_view key, T& value, std::string_view help) {
    map(take(key, help), [&value](Section& below) { describe(below, value); });
  }
  /// Declares a key whose value is a map, described by a function.
  template <std::invocable<Section&> Body>
  void section(std::string_view key, Body&& body, std::string_view help) {
    map(take(key, help), std::forward<Body>(body));
  }
  /// Declares a key whose value is an optional map. The variable is not set if the file omits the key.
  template <typename T>
  void section(std::string_view key, std::optional<T>& value, std::string_view help) {
    optional_map(
        take(key, help), value.has_value(), [&value] { value.emplace(); },
        [&value](Section& below) {
          T fresh{};
          describe(below, value ? *value : fresh);
        });
  }
  /// Declares a key whose value is a list of maps with `size` elements.
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

  /// Declares a key whose value is a list of maps. An element takes the values of missing keys from `prototype`.
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

  /// Declares keys that apply only if `applies` is true. `condition` is the reason in words ("model is trace"). If it
  /// is false, the reader refuses the keys with that reason.
  virtual void when(bool applies, std::string_view condition, const std::function<void()>& keys) = 0;
  /// Checks a rule that concerns several keys. If `ok` is false, the file is refused with "key: what, expected …, got
  /// …" at `key` of this section. If the file lacks the key, or `key` is empty, the error is at the section.
  /// "list[2].below" names a nested key. No rule is checked once a key of the section had an error.
  virtual void check(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// Checks a rule that concerns several keys, like check(). If `ok` is false, the file is accepted with a warning.
  virtual void advise(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// Returns the name of the key that was declared with this variable. Returns an empty text if no file is read or no
  /// key has this variable.
  [[nodiscard]] virtual std::string key_of(const void* /*variable*/) const { return {}; }
  /// Returns a path from the file in a form that can be opened: relative paths start at the file's folder, not at the
  /// working directory.
  [[nodiscard]] std::string resolve(const std::string& path) const;
  /// Returns the name of the file that is being read, or an empty text.
  [[nodiscard]] virtual std::string file() const { return {}; }
  /// Returns the name of the file that has a key of this section: the file that is being read, or one that it includes.
  [[nodiscard]] virtual std::string file_with(std::string_view /*key*/) const { return file(); }
  /// True while a file is read and all values of this section so far were well-formed. Only then may rules across keys
  /// be checked, and files be read that a key names.
  [[nodiscard]] virtual bool reading() const = 0;

 protected:
  /// Name and properties of a declared key.
  struct Field {
    std::string_view key;
    std::string_view help;
    const void* variable = nullptr;  ///< variable that receives the key's value; null if there is no single one
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
