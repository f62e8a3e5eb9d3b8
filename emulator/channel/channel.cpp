#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

std::uint64_t Channel::skip(std::uint64_t from, std::uint64_t to) {
  std::uint64_t offered = 0;
  for (std::uint64_t tti = from; tti < to; ++tti) offered += static_cast<std::uint64_t>(step(tti).carried().count());
  return offered;
}

void Channel::advance(std::uint64_t tti) {
  if (next_ < tti) offered_ += skip(next_, tti);
  current_ = step(tti);
  offered_ += static_cast<std::uint64_t>(current_.carried().count());
  next_ = tti + 1;
}

}  // namespace sluice::emulator
