#pragma once

namespace sluice::emulator {

/// Whether this processor takes four doubles at a time (AVX2). Fused multiplication, which it may have besides, is left
/// out on purpose: with it the last bits would be others than on a processor that has none.
[[nodiscard]] inline bool have_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

}  // namespace sluice::emulator
