#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::emulator {

/// The emulator's only source of randomness: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Every
/// distribution is implemented here, so a seed gives equal numbers with any standard library. A run has one seed. Each
/// model draws from a separate stream, so that adding a model does not change the numbers of other models.
class Random {
 public:
  /// Creates a generator whose state derives from `seed`.
  explicit Random(std::uint64_t seed);
  /// Returns the random stream with this name and number for a run's `seed`; the number is, for instance, that of a UE.
  /// Streams are independent of each other.
  [[nodiscard]] static Random stream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  /// Returns a random stream for one part of a model. The stream depends on this generator's present state, which stays
  /// unchanged.
  [[nodiscard]] Random split(std::string_view name, std::uint64_t index = 0) const;

  /// Returns 64 random bits. Inline, because models draw in every TTI of every UE.
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
  /// Returns a uniform number in [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Returns a uniform number in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Returns a uniform integer in 0 … bound-1 without bias (Lemire 2019). Requires bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Returns true with probability `p`.
  bool chance(double p) { return uniform() < p; }
  /// Returns a standard normal number (Box and Muller).
  double normal();
  /// Fills `out` with the next standard normal numbers; this is faster than single calls of normal().
  void normals(std::span<double> out);
  /// Returns an exponentially distributed number with the given mean.
  double exponential(double mean);
  /// Returns a Pareto-distributed number: P(X > x) = (minimum / x)^shape for x >= minimum. Its mean is finite only for
  /// shape > 1.
  double pareto(double shape, double minimum);

 private:
  struct Pair {
    double first;
    double second;
  };
  /// Returns two independent standard normal numbers from two draws (Box and Muller).
  Pair normal_pair();

  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;  ///< second number of the last normal pair, if normal() has returned only the first
  bool has_spare_ = false;
};

}  // namespace sluice::emulator
