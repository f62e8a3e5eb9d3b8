#pragma once

#include <optional>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/ops/capture/capture_stream.hpp"
#include "proxy/ops/capture/ring_file.hpp"

namespace sluice::capture {

/// Opens the file of this run's last frames in `file` if it is configured, and logs where those of a crashed earlier
/// run are. On failure a warning is logged and `file` stays empty. `program` is the name that captures show.
void open_last_frames(const proxy::Config& config, const std::string& program, const Clock& clock,
                      std::optional<RingFile>& file);

}  // namespace sluice::capture
