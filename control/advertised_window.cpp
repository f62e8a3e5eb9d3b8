#include "control/advertised_window.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr std::uint8_t largest_scale = 14;

}  // namespace

AdvertisedWindow::AdvertisedWindow(std::uint8_t scale) : scale_(std::min(scale, largest_scale)) {}

std::uint16_t AdvertisedWindow::field(Bytes ack, std::uint16_t offered, Bytes window) {
  const bool repeats = any_ && ack == ack_ && offered == offered_;
  if (repeats && field_ > 0) return field_;
  const Bytes granted = std::clamp(window, Bytes(0), in_bytes(offered));
  wanted_ = advertised_ ? std::max(wanted_, ack + granted) : ack + granted;
  const Bytes ahead = std::clamp(wanted_ - ack, Bytes(0), in_bytes(offered));
  field_ = static_cast<std::uint16_t>(ahead.count() >> scale_);
  ack_ = ack;
  offered_ = offered;
  any_ = true;
  const Bytes written = ack + in_bytes(field_);
  edge_ = advertised_ ? std::max(edge_, written) : written;
  advertised_ = true;
  return field_;
}

void AdvertisedWindow::advertise(Bytes edge) {
  edge_ = advertised_ ? std::max(edge_, edge) : edge;
  wanted_ = advertised_ ? std::max(wanted_, edge) : edge;
  advertised_ = true;
}

}  // namespace sluice::control
