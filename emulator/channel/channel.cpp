#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

void Channel::advance(std::uint64_t tti) {
  if (next_ < tti && current_ == newest_ && skip(next_, tti, offered_)) next_ = tti;
  while (next_ <= tti) {
    if (current_ != newest_) {
      take(current_ + 1);
      continue;
    }
    const std::span<const LinkGrant> more = ahead(next_);
    newest_ = &more.back();
    take(&more.front());
  }
}

}  // namespace sluice::emulator
