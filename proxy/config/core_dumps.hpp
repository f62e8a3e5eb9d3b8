#pragma once

namespace sluice::config {

/// Forbids core files of this process, because a core file would contain keys and payload. Also prevents other
/// processes of the same user from tracing this process (PR_SET_DUMPABLE in prctl(2)). Call this function before a key
/// is read. Root can still trace the process.
void forbid_core_dumps();

}  // namespace sluice::config
