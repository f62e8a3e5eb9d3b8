#pragma once

#include <optional>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/ops/capture/capture_stream.hpp"
#include "proxy/ops/capture/ring_file.hpp"

namespace sluice::capture {

/// Opens `file` for this run's last frames if that is configured. Logs where the last frames of a crashed earlier run
/// are. On failure a warning is logged and `file` stays empty. `program` is the name that captures contain.
void open_last_frames(const proxy::Config& config, const std::string& program, const Clock& clock,
                      std::optional<RingFile>& file);

}  // namespace sluice::capture
