#include "emulator/hosts/size_distribution.hpp"

#include <algorithm>

namespace sluice::emulator {

std::uint64_t SizeDistribution::draw(Random& random) const {
  const auto low = static_cast<double>(min.count());
  const auto high = static_cast<double>(max.count());
  double size = low;
  switch (kind) {
    case SizeKind::fixed:
      break;
    case SizeKind::uniform:
      size = random.uniform(low, high + 1);
      break;
    case SizeKind::triangular:
      size = (random.uniform(low, high + 1) + random.uniform(low, high + 1)) / 2;
      break;
    case SizeKind::pareto:
      size = random.pareto(shape, low);
      break;
  }
  return static_cast<std::uint64_t>(std::clamp(size, low, std::max(low, kind == SizeKind::fixed ? low : high)));
}

}  // namespace sluice::emulator
