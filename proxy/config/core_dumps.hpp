#pragma once

namespace sluice::config {

/// Prevents core files, and tracing by other processes of the user (PR_SET_DUMPABLE, prctl(2)), because a core would
/// contain keys and payload. Call it before a key is read. Root can still trace the process.
void forbid_core_dumps();

}  // namespace sluice::config
