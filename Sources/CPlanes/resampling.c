#include "cplanes.h"
#include "vectors.h"
#include "versions.h"

// Resampling in floats. Products are added in the order of their samples, so that results are identical in whichever loop they are
// computed.

/// Eight samples, or sums of two or four samples, of a row.
typedef uint16_t eight __attribute__((vector_size(16)));

typedef uint8_t eight_bytes __attribute__((vector_size(8)));

typedef uint32_t wide_integers __attribute__((vector_size(64)));

/// Interleaves rows of the upper and the lower half three times, which transposes them.
INLINE void transpose_sums(eight block[8]) {
  for (int round = 0; round < 3; round++) {
    eight next[8];
    for (int row = 0; row < 4; row++) {
      eight one = block[row], other = block[row + 4];
      next[2 * row] = __builtin_shufflevector(one, other, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * row + 1] = __builtin_shufflevector(one, other, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    memcpy(block, next, sizeof next);
  }
}

/// Transposes four rows of pairs within each half of a vector, then exchanges halves.
INLINE void transpose_floats(floats block[8]) {
  floats quads[8];
  for (int half = 0; half < 8; half += 4) {
    floats a = block[half], b = block[half + 1], c = block[half + 2], d = block[half + 3];
    floats low_ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    floats high_ab = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    floats low_cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    floats high_cd = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    quads[half] = __builtin_shufflevector(low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13);
    quads[half + 1] = __builtin_shufflevector(low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15);
    quads[half + 2] = __builtin_shufflevector(high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13);
    quads[half + 3] = __builtin_shufflevector(high_ab, high_cd, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int row = 0; row < 4; row++) {
    block[row] = __builtin_shufflevector(quads[row], quads[row + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    block[row + 4] = __builtin_shufflevector(quads[row], quads[row + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Eight samples of a row, each the sum of `shared` stored ones.
INLINE eight load_sums(const uint8_t *row, int index, int shared) {
  if (shared == 1) {
    eight_bytes samples;
    memcpy(&samples, row + index * (ptrdiff_t)sizeof samples, sizeof samples);
    return __builtin_convertvector(samples, eight);
  }
  eight pairs;
  memcpy(&pairs, row + index * (ptrdiff_t)sizeof pairs, sizeof pairs);
  return (pairs & 0xFF) + (pairs >> 8);
}

/// Converts the rows of a group to columns of floats of 0…1.
INLINE void gather(const cplanes_group *group, int shared_columns, int shared_rows) {
  float factor = 1 / (255.0f * (float)(shared_columns * shared_rows));
  for (int index = 0; 8 * index < group->width; index++) {
    float *columns = group->columns + cplanes_group_rows * 8 * (ptrdiff_t)index;
    eight upper[8], lower[8];
    for (int row = 0; row < 8; row++) {
      upper[row] = load_sums(group->upper[row], index, shared_columns);
      lower[row] = load_sums(group->upper[row + 8], index, shared_columns);
      if (shared_rows == 2) {
        upper[row] += load_sums(group->lower[row], index, shared_columns);
        lower[row] += load_sums(group->lower[row + 8], index, shared_columns);
      }
    }
    transpose_sums(upper);
    transpose_sums(lower);
    for (int column = 0; column < 8; column++) {
      words sums = __builtin_shufflevector(
          upper[column], lower[column], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      store_wide_floats(__builtin_convertvector(sums, wide_floats) * factor, columns, cplanes_group_rows * column);
    }
  }
}

INLINE void resample_group(const cplanes_group *group, const cplanes_taps *taps, int count, float *const *results) {
  // With numbers that the compiler knows there is no choice for each vector.
  switch (group->shared_columns * 2 + group->shared_rows) {
    case 3: gather(group, 1, 1); break;
    case 4: gather(group, 1, 2); break;
    case 5: gather(group, 2, 1); break;
    default: gather(group, 2, 2);
  }
  for (int first = 0; first < count; first += 8) {
    floats upper[8] = {}, lower[8] = {};
    for (int column = 0; column < 8 && first + column < count; column++) {
      const cplanes_taps *taps_of_column = taps + first + column;
      const float *samples = group->columns + cplanes_group_rows * (ptrdiff_t)taps_of_column->first;
      wide_floats sums = {};
      for (int tap = 0; tap < taps_of_column->count; tap++, samples += cplanes_group_rows) {
        sums += load_wide_floats(samples, 0) * taps_of_column->weights[tap];
      }
      upper[column] = __builtin_shufflevector(sums, sums, 0, 1, 2, 3, 4, 5, 6, 7);
      lower[column] = __builtin_shufflevector(sums, sums, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    transpose_floats(upper);
    transpose_floats(lower);
    for (int row = 0; row < 8; row++) {
      store_floats(upper[row], results[row], first);
      store_floats(lower[row], results[row + 8], first);
    }
  }
}

INLINE void resample_rows(const float *const *rows, const float *weights, int count, int width, uint8_t *result) {
  enum { vectors = 2 };
  for (int first = 0; first < width; first += 16 * vectors) {
    wide_floats sums[vectors] = {};
    for (int row = 0; row < count; row++) {
      for (int index = 0; index < vectors; index++) {
        sums[index] += load_wide_floats(rows[row], first + 16 * index) * weights[row];
      }
    }
    for (int index = 0; index < vectors; index++) {
      wide_floats lowest = (wide_floats){} + 1e-30f, highest = (wide_floats){} + 1;
      wide_floats sum = __builtin_elementwise_min(__builtin_elementwise_max(sums[index], lowest), highest);
      // Rounds, as `SampleScale.bytes` does.
      wide_floats rounded = sum * 255.0005f + 8388608;
      bytes samples = __builtin_convertvector((wide_integers)rounded, bytes);
      memcpy(result + first + 16 * index, &samples, sizeof samples);
    }
  }
}

INLINE void resample_columns(const cplanes_taps *taps, int count, const float *columns, float *results) {
  for (int index = 0; index < count; index++, taps++) {
    const float *samples = columns + 8 * (ptrdiff_t)taps->first;
    floats sum = {};
    for (int tap = 0; tap < taps->count; tap++) sum += load_floats(samples, 8 * tap) * taps->weights[tap];
    store_floats(sum, results, 8 * (ptrdiff_t)index);
  }
}

INLINE void add_product(float *sums, const float *samples, float factor, ptrdiff_t count) {
  for (ptrdiff_t index = 0; index < count; index += 8) {
    store_floats(load_floats(sums, index) + load_floats(samples, index) * factor, sums, index);
  }
}

VERSIONS(
    resample_group, (const cplanes_group *group, const cplanes_taps *taps, int count, float *const *results),
    (group, taps, count, results))
VERSIONS(
    resample_rows, (const float *const *rows, const float *weights, int count, int width, uint8_t *result),
    (rows, weights, count, width, result))
VERSIONS(
    resample_columns, (const cplanes_taps *taps, int count, const float *columns, float *results),
    (taps, count, columns, results))
VERSIONS(
    add_product, (float *sums, const float *samples, float factor, ptrdiff_t count), (sums, samples, factor, count))
