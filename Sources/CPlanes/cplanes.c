#include "cplanes.h"
#include "fast_path.h"
#include "preview.h"
#include "slow_path.h"
#include "versions.h"

cplanes_instructions cplanes_supported(void) {
#if defined(__x86_64__)
  // Of processors with AVX-512, Intel's before Ice Lake, which lack VBMI2, lower their clock for its vectors.
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni"))
    return cplanes_avx512;
  if (__builtin_cpu_supports("avx2")) return cplanes_avx2;
#endif
  return cplanes_baseline;
}

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
INLINE void apply(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count) {
  if (kernel->stage_count == 1) {
    cplanes_kernel single = *kernel;
    single.stage_count = 1;
    apply_stages(&single, &source, &result, count);
  } else {
    apply_stages(kernel, &source, &result, count);
  }
}

VERSIONS(
    apply, (const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count),
    (kernel, source, result, count))
VERSIONS(
    add_rows, (uint16_t *sums, const uint8_t *samples, ptrdiff_t stride, int rows, int width),
    (sums, samples, stride, rows, width))
VERSIONS(
    add_floats, (float *sums, const float *samples, const float *alpha, int count), (sums, samples, alpha, count))

void cplanes_average(uint16_t *sums, int width, int factor, int rows, uint8_t *means) {
  int whole = width / factor, rest = width % factor;
  // With a factor that the compiler knows, the sum of a mean's columns has no loop.
  switch (factor) {
    case 2: average(sums, whole, 2, rows, means); break;
    case 3: average(sums, whole, 3, rows, means); break;
    case 4: average(sums, whole, 4, rows, means); break;
    case 5: average(sums, whole, 5, rows, means); break;
    case 6: average(sums, whole, 6, rows, means); break;
    case 7: average(sums, whole, 7, rows, means); break;
    case 8: average(sums, whole, 8, rows, means); break;
    default: average(sums, whole, factor, rows, means);
  }
  if (rest) average(sums + width - rest, 1, rest, rows, means + whole);
  memset(sums, 0, (size_t)width * sizeof *sums);
}

void cplanes_average_floats(const float *sums, int width, int factor, int rows, float offset, float *means) {
  int whole = width / factor, rest = width % factor;
  switch (factor) {
    case 2: average_floats(sums, whole, 2, rows, offset, means); break;
    case 3: average_floats(sums, whole, 3, rows, offset, means); break;
    case 4: average_floats(sums, whole, 4, rows, offset, means); break;
    case 5: average_floats(sums, whole, 5, rows, offset, means); break;
    case 6: average_floats(sums, whole, 6, rows, offset, means); break;
    default: average_floats(sums, whole, factor, rows, offset, means);
  }
  if (rest) average_floats(sums + width - rest, 1, rest, rows, offset, means + whole);
}
