#pragma once

namespace sluice::emulator {

#if defined(__x86_64__)
/// True if this processor supports AVX2 (four doubles at a time). Fused multiply-add is not used, because its rounding
/// would make results differ between processors.
[[nodiscard]] inline bool have_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

}  // namespace sluice::emulator
