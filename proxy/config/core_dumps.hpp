#pragma once

namespace sluice::config {

/// Prevents core files of this process, because a core would contain keys and payload. Also prevents tracing by other
/// processes of the user (PR_SET_DUMPABLE, prctl(2)). Call it before a key is read. Root can still trace the process.
void forbid_core_dumps();

}  // namespace sluice::config
