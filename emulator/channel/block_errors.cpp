#include "emulator/channel/block_errors.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator {

BlockErrorChannel::BlockErrorChannel(std::unique_ptr<Channel> link, double rate, Random draws)
    : link_(std::move(link)), rate_(rate), draws_(draws) {
  if (link_ == nullptr) throw std::invalid_argument("block errors: there is no link");
  if (!(rate >= 0 && rate <= 1)) throw std::invalid_argument("block errors: the rate must be 0 to 1");
}

LinkGrant BlockErrorChannel::step(std::uint64_t tti) {
  LinkGrant grant = link_->at(tti);
  constexpr double always_lost = -1;
  const double draw = draws_.uniform();
  grant.draw = grant.received ? draw : always_lost;
  grant.received = grant.draw >= rate_;
  return grant;
}

}  // namespace sluice::emulator
