#pragma once

#include <optional>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/ops/capture/capture_stream.hpp"
#include "proxy/ops/capture/ring_file.hpp"

namespace sluice::capture {

/// Opens `file` for the last frames of this run, if last_frames.file is configured. If an earlier run has crashed, logs
/// where its last frames are. On failure, logs a warning and leaves `file` empty. `program` is the program name that
/// the recovered capture contains.
void open_last_frames(const proxy::Config& config, const std::string& program, const Clock& clock,
                      std::optional<RingFile>& file);

}  // namespace sluice::capture
