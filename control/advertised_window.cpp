#include "control/advertised_window.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr std::uint8_t largest_scale = 14;
constexpr std::int64_t largest_field = 65535;

}  // namespace

AdvertisedWindow::AdvertisedWindow(std::uint8_t scale) : scale_(std::min(scale, largest_scale)) {}

std::uint16_t AdvertisedWindow::field(Bytes ack, std::uint16_t offered, Bytes window) {
  const bool repeats = any_ && ack == ack_ && offered == offered_;
  if (repeats && field_ > 0) return field_;
  const std::int64_t unit = std::int64_t{1} << scale_;
  const std::int64_t wanted = std::clamp(window.count(), std::int64_t{0}, largest_field * unit) / unit;
  const std::int64_t ahead = advertised_ ? std::clamp((edge_ - ack).count(), std::int64_t{0}, largest_field * unit) : 0;
  const std::int64_t kept = (ahead + unit - 1) / unit;
  field_ = static_cast<std::uint16_t>(std::min(std::int64_t{offered}, std::max(wanted, kept)));
  ack_ = ack;
  offered_ = offered;
  any_ = true;
  advertise(ack + in_bytes(field_));
  return field_;
}

void AdvertisedWindow::advertise(Bytes edge) {
  edge_ = advertised_ ? std::max(edge_, edge) : edge;
  advertised_ = true;
}

}  // namespace sluice::control
