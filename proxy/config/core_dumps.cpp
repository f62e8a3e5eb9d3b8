#include "proxy/config/core_dumps.hpp"

#include <sys/prctl.h>

namespace sluice::config {

void forbid_core_dumps() {
  prctl(PR_SET_DUMPABLE, 0);  // cannot fail with these arguments
}

}  // namespace sluice::config
