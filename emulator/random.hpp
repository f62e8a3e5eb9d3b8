#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::emulator {

/// The emulator's only source of randomness: xoshiro256** (Blackman and Vigna, 2018), its state filled by splitmix64.
/// Every distribution is written out here, so a seed gives the same numbers with any standard library. One seed serves
/// a whole run; each model draws from its own stream, so that adding a model does not disturb the others.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  /// The stream called `name`, number `index` (of a UE, say), of a run's `seed`. Streams are independent of each other.
  [[nodiscard]] static Random stream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  /// A stream for one part of a model; depends on this generator's present state and does not change it.
  [[nodiscard]] Random split(std::string_view name, std::uint64_t index = 0) const;

  /// 64 random bits. Here, because models draw in every TTI of every UE.
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in 0 … bound-1 without bias (Lemire 2019). Requires bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// True with probability `p`.
  bool chance(double p) { return uniform() < p; }
  /// Standard normal (Box and Muller).
  double normal();
  /// The next so many of them, at less cost than one by one.
  void normals(std::span<double> out);
  /// Exponential with the given mean.
  double exponential(double mean);
  /// Pareto: P(X > x) = (minimum / x)^shape for x >= minimum. Its mean is finite only for shape > 1.
  double pareto(double shape, double minimum);

 private:
  struct Pair {
    double first;
    double second;
  };
  /// Box and Muller's formula makes two normals of two draws.
  Pair normal_pair();

  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace sluice::emulator
