#include "cplanes.h"
#include "fast_path.h"
#include "slow_path.h"

/// The number of indices that are processed together.
enum { batch = 64 };

/// Runs the fast path for `count` indices.
/// - Returns: A bit for each index, the first the lowest: whether the result is invalid and the slow path is needed.
INLINE uint64_t run_fast_path(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int first, int count) {
  uint64_t left = 0;
  if (source->shared_columns == 2) {
    for (int bit = 0; bit < count; bit++)
      left |= (uint64_t)!fast_path_from_420(kernel, source, result, first + bit) << bit;
  } else {
    for (int bit = 0; bit < count; bit++) left |= (uint64_t)!fast_path_from_444(kernel, source, result, first + bit) << bit;
  }
  return left;
}

/// Runs the fast path for a batch of indices, then the slow path for those that need it: branches per index would
/// often be mispredicted.
INLINE void apply_stages(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int count) {
  int has_fast_path = kernel->fast_path && result->shared_columns == 2 && result->shared_rows == 2 &&
                     source->shared_columns == source->shared_rows;
  for (int first = 0; first < count; first += batch) {
    int size = count - first < batch ? count - first : batch;
    uint64_t left = has_fast_path ? run_fast_path(kernel, source, result, first, size) : UINT64_MAX >> (batch - size);
    for (; left; left &= left - 1) slow_path(kernel, source, result, first + __builtin_ctzll(left));
  }
}

/// A single stage, the usual case, is compiled separately: without a loop.
INLINE void apply(const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int count) {
  if (kernel->stage_count == 1) {
    cplanes_kernel single = *kernel;
    single.stage_count = 1;
    apply_stages(&single, source, result, count);
  } else {
    apply_stages(kernel, source, result, count);
  }
}

void cplanes_apply_portable(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count) {
  apply(kernel, &source, &result, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2")))
static void apply_avx2(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count) {
  apply(kernel, &source, &result, count);
}
#endif

void cplanes_apply(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    apply_avx2(kernel, source, result, count);
    return;
  }
#endif
  cplanes_apply_portable(kernel, source, result, count);
}
