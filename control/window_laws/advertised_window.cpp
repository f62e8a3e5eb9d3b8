#include "control/window_laws/advertised_window.hpp"

#include <algorithm>

namespace sluice::control {
namespace {

constexpr std::uint8_t largest_scale = 14;

}  // namespace

AdvertisedWindow::AdvertisedWindow(std::uint8_t scale) : scale_(std::min(scale, largest_scale)) {}

std::uint16_t AdvertisedWindow::field(Bytes ack, std::uint16_t offered, Bytes window, Duplicates duplicates) {
  const bool repeats = any_ && ack == ack_ && offered == offered_ && duplicates == Duplicates::repeat;
  if (repeats && field_ > 0) return field_;
  const auto granted = std::clamp(window, Bytes(0), in_bytes(offered)).count() >> scale_;
  const Bytes edge = ack + in_bytes(static_cast<std::uint16_t>(granted));
  kept_ = advertised_ ? std::max(kept_, edge) : edge;
  const std::int64_t ahead = std::clamp(kept_ - ack, Bytes(0), in_bytes(offered)).count();
  const std::int64_t part_of_unit = (std::int64_t{1} << scale_) - 1;
  field_ = static_cast<std::uint16_t>((ahead + part_of_unit) >> scale_);
  ack_ = ack;
  offered_ = offered;
  any_ = true;
  const Bytes written = ack + in_bytes(field_);
  edge_ = advertised_ ? std::max(edge_, written) : written;
  advertised_ = true;
  return field_;
}

void AdvertisedWindow::advertise(Bytes edge) {
  any_ = any_ && edge <= edge_;
  edge_ = advertised_ ? std::max(edge_, edge) : edge;
  kept_ = advertised_ ? std::max(kept_, edge) : edge;
  advertised_ = true;
}

}  // namespace sluice::control
