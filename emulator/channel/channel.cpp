#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

void Channel::advance(std::uint64_t tti) {
  if (next_ < tti && ahead_.empty()) {
    if (const auto passed = skip(next_, tti)) {
      offered_ += *passed;
      next_ = tti;
    }
  }
  while (next_ <= tti) {
    if (ahead_.empty()) ahead_ = ahead(next_);
    take();
  }
}

}  // namespace sluice::emulator
