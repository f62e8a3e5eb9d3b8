// Implements Random: xoshiro256** with splitmix64 seeding, and the distributions that the models use. Every emulator
// model draws from it, and from nothing else. Invariant: a seed gives the same numbers with every compiler and standard
// library, so no std::distribution is used.

#include "emulator/random.hpp"

#include <cmath>
#include <numbers>

namespace sluice::emulator {
namespace {

/// Advances splitmix64 and returns its next number.
std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Returns the FNV-1a hash of the bytes of `name`, followed by those of `index`.
std::uint64_t hash(std::string_view name, std::uint64_t index) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : name) value = (value ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  for (unsigned shift = 0; shift < 64; shift += 8) value = (value ^ ((index >> shift) & 0xff)) * 0x100000001b3U;
  return value;
}

}  // namespace

Random::Random(std::uint64_t seed) : state_() {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

Random Random::stream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  return Random(splitmix64(seed) ^ hash(name, index));
}

Random Random::split(std::string_view name, std::uint64_t index) const {
  Random copy = *this;
  return stream(copy.next(), name, index);
}

std::uint64_t Random::below(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

inline Random::Pair Random::normal_pair() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double Random::normal() {
  has_spare_ = !has_spare_;
  if (!has_spare_) return spare_normal_;
  const Pair pair = normal_pair();
  spare_normal_ = pair.second;
  return pair.first;
}

void Random::normals(std::span<double> out) {
  if (has_spare_ && !out.empty()) {
    out.front() = normal();
    out = out.subspan(1);
  }
  for (; out.size() >= 2; out = out.subspan(2)) {
    const Pair pair = normal_pair();
    out[0] = pair.first;
    out[1] = pair.second;
  }
  if (!out.empty()) out.front() = normal();
}

double Random::exponential(double mean) {
  return -mean * std::log(1 - uniform());
}

double Random::pareto(double shape, double minimum) {
  return minimum * std::pow(1 - uniform(), -1 / shape);
}

}  // namespace sluice::emulator
