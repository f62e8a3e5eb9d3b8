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

/// Functions to read, print and document a list of maps, independent of the type of its elements.
struct SectionListSpec {
  std::size_t min_size = 0;
  std::size_t max_size = 1024;
  std::size_t size = 0;
  std::function<void()> clear;
  std::function<void()> append;
  /// declares the keys of the existing element with the given index
  std::function<void(Section&, std::size_t)> describe;
  std::function<void(Section&)> describe_default;  ///< declares the keys of a new element, for the reference
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

  /// Makes the next declared key mandatory.
  Section& required() {
    required_ = true;
    return *this;
  }
  /// Declares keys that can be changed while the program is running (see live_keys()). `keys` is called and declares
  /// them.
  void live(const std::function<void()>& keys) {
    const bool outer = std::exchange(live_, true);
    keys();
    live_ = outer;
  }
  /// Makes the value of the next declared key secret. print() hides it unless secrets are to be shown.
  Section& secret() {
    secret_ = true;
    return *this;
  }

  /// Declares a key whose value has a type with a Scalar. An optional value remains unset if the file does not contain
  /// the key.
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
  /// Declares a key whose value is a number with a unit that no Scalar has. For example, quantity("power", c.power,
  /// "dBm", {0, 60}, "…") reads "38dBm".
  void quantity(std::string_view key, double& value, std::string_view unit, const Range<double>& range,
                std::string_view help);
  /// Declares a key whose value is one of the words in `table`. Each word stands for one value of the enumeration E.
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const Choice<E> (&table)[N], std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  template <typename E, std::size_t N>
  void choice(std::string_view key, E& value, const std::array<Choice<E>, N>& table, std::string_view help) {
    scalar(take(key, help, &value), detail::spec_of_choice(value, std::span<const Choice<E>>(table)));
  }
  /// Declares a key whose value is a list of scalars. `size` is the allowed number of elements. A list in the file
  /// replaces the whole default list.
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, detail::whole_range<T>()));
  }
  template <typename T>
  void list(std::string_view key, std::vector<T>& values, const Range<std::size_t>& size,
            const Range<std::type_identity_t<T>>& range, std::string_view help) {
    scalar_list(take(key, help, &values), detail::list_of(values, size, std::optional(range)));
  }
  /// Declares a key whose value is a map. describe(Section&, T&) declares the keys of the map.
  template <typename T>
  requires(!std::invocable<T, Section&>) void section(std::string_view key, T& value, std::string_view help) {
    map(take(key, help), [&value](Section& below) { describe(below, value); });
  }
  /// Declares a key whose value is a map. The function `body` declares the keys of the map.
  template <std::invocable<Section&> Body>
  void section(std::string_view key, Body&& body, std::string_view help) {
    map(take(key, help), std::forward<Body>(body));
  }
  /// Declares a key whose value is a map that may be missing. If the file does not contain the key, the variable is not
  /// set.
  template <typename T>
  void section(std::string_view key, std::optional<T>& value, std::string_view help) {
    optional_map(
        take(key, help), value.has_value(), [&value] { value.emplace(); },
        [&value](Section& below) {
          T fresh{};
          describe(below, value ? *value : fresh);
        });
  }
  /// Declares a key whose value is a list of maps, which are stored in `values`. `size` is the allowed number of
  /// elements.
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

  /// Declares a key whose value is a list of maps. Keys that are missing in an element have the values of `prototype`.
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

  /// Declares keys that apply only if `applies` is true. `condition` describes when they apply ("model is trace"). If
  /// `applies` is false and the file contains such a key, the error states this condition.
  virtual void when(bool applies, std::string_view condition, const std::function<void()>& keys) = 0;
  /// Checks a rule about several keys. If `ok` is false, reports the error "key: what, expected …, got …" at `key` of
  /// this section. The error is at the section if `key` is empty or missing in the file. A nested key is written
  /// "list[2].below". If a key of the section has an error already, no rule is checked.
  virtual void check(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// Checks a rule about several keys, like check(). If `ok` is false, reports a warning, and the file is still
  /// accepted.
  virtual void advise(bool ok, std::string_view key, std::string_view expected, std::string_view got) = 0;
  /// Returns the name of the key that was declared with this variable. Returns an empty text if there is none, or if no
  /// file is being read.
  [[nodiscard]] virtual std::string key_of(const void* /*variable*/) const { return {}; }
  /// Returns a path from the file in a form that can be opened. A relative path is relative to the folder of the file,
  /// not to the working directory.
  [[nodiscard]] std::string resolve(const std::string& path) const;
  /// Returns the name of the file that is being read; empty if none is.
  [[nodiscard]] virtual std::string file() const { return {}; }
  /// Returns the name of the file that contains `key` of this section. It is the main file or one that it includes.
  [[nodiscard]] virtual std::string file_with(std::string_view /*key*/) const { return file(); }
  /// True while a file is being read in which all values of this section so far are well-formed. Only then should rules
  /// about several keys be checked, or files be read that a key names.
  [[nodiscard]] virtual bool reading() const = 0;

 protected:
  /// Name and properties of a declared key.
  struct Field {
    std::string_view key;
    std::string_view help;
    /// variable that gets the value of the key; null if no variable or more than one belongs to the key
    const void* variable = nullptr;
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
