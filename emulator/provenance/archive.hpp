#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Binary form of values, without loss: numbers as 8 bytes little-endian; texts, lists and maps preceded by their
// length. A struct has a function fields(archive, value) that passes its members to the archive.

namespace sluice::emulator {

/// Appends values to a byte string.
class ArchiveWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void put(std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xff);
  }
  void put(std::uint32_t value) { put(std::uint64_t{value}); }
  void put(std::uint16_t value) { put(std::uint64_t{value}); }
  void put(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(std::uint64_t{value.has_value()});
    if (value) put(*value);
  }
  template <typename A, typename B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(std::uint64_t{list.size()});
    for (const T& item : list) put(item);
  }
  template <typename T>
  void put(const std::map<std::string, T>& map) {
    put(std::uint64_t{map.size()});
    for (const auto& entry : map) put(entry);
  }
  template <typename T>
  requires requires(ArchiveWriter& archive, const T& value) { fields(archive, value); }
  void put(const T& value) { fields(*this, value); }

  std::string bytes_;
};

/// Reads values from untrusted bytes. Throws std::runtime_error if the bytes end early or a number is too large.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) throw std::runtime_error("is truncated");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : bytes(8)) {
      value |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
      shift += 8;
    }
    return value;
  }
  /// Reads the number of elements that follow. The number cannot exceed the remaining bytes, because each element takes
  /// at least one byte.
  std::uint64_t length() {
    const std::uint64_t count = number();
    if (count > rest_.size()) throw std::runtime_error("is truncated");
    return count;
  }
  void get(std::uint64_t& value) { value = number(); }
  template <typename T>
  requires std::same_as<T, std::uint32_t> || std::same_as<T, std::uint16_t>
  void get(T& value) {
    const std::uint64_t read = number();
    value = static_cast<T>(read);
    if (value != read) throw std::runtime_error("holds a number that is too large");
  }
  void get(double& value) { value = std::bit_cast<double>(number()); }
  void get(std::string& text) { text = bytes(length()); }
  template <typename T>
  void get(std::optional<T>& value) {
    value.reset();
    if (number() != 0) get(value.emplace());
  }
  template <typename A, typename B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <typename T>
  void get(std::vector<T>& list) {
    list.clear();
    for (std::uint64_t left = length(); left > 0; --left) get(list.emplace_back());
  }
  template <typename T>
  void get(std::map<std::string, T>& map) {
    map.clear();
    for (std::uint64_t left = length(); left > 0; --left) {
      std::pair<std::string, T> entry;
      get(entry);
      map.insert(std::move(entry));
    }
  }
  template <typename T>
  requires requires(ArchiveReader& archive, T& value) { fields(archive, value); }
  void get(T& value) { fields(*this, value); }

  std::string_view rest_;
};

}  // namespace sluice::emulator
