#pragma once

#include <optional>
#include <string>

#include "proxy/capture/capture_stream.hpp"
#include "proxy/config/config.hpp"
#include "proxy/recorder/ring_file.hpp"

namespace sluice::capture {

/// Opens the file of this run's last frames in `file` where the configuration wants one, and logs where those of an
/// earlier run are. Where it cannot be a warning is logged, and `file` stays empty. `program`: as the capture is to
/// name it.
void open_last_frames(const proxy::Config& config, const std::string& program, const Clock& clock,
                      std::optional<RingFile>& file);

}  // namespace sluice::capture
