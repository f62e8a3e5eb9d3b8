#pragma once

#include "control/feedback/report_arrival.hpp"

namespace sluice::proxy {

using control::feedback::OmissionNotice;
using control::feedback::ReportArrival;

}  // namespace sluice::proxy
