#pragma once

namespace sluice::config {

/// From here on the process leaves no core file and cannot be traced or read by others of its user (PR_SET_DUMPABLE,
/// prctl(2)): a core would hold keys, and what its connections carry. To be called before a key is read. Root may trace
/// it all the same.
void forbid_core_dumps();

}  // namespace sluice::config
