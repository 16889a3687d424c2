#include "cplanes.h"
#include "vectors.h"
#include "versions.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Resampling of stored planes in integers: a vector holds twice as many as floats, and one instruction multiplies pairs and adds both
// products. Sums are exact, so that results are identical in whichever loop they are computed.

/// Fractional bits of a sample between the two directions, and of a weight.
enum { sample_bits = 6, weight_bits = 14 };

/// Eight samples, or as many sums of two or four, of a row.
typedef uint16_t eight __attribute__((vector_size(16)));
typedef uint8_t eight_bytes __attribute__((vector_size(8)));

/// Pairs of samples: of two columns in 16 rows, or of two rows in 16 columns.
typedef uint16_t pair_vector __attribute__((vector_size(64)));
typedef uint8_t byte_pairs __attribute__((vector_size(32)));
typedef int32_t eight_pairs __attribute__((vector_size(32)));

/// Adds, to 16 sums, the products of a pair of samples each and of two weights.
typedef void add_products(products *sums, const int16_t *samples, int32_t weights);

#if defined(__x86_64__)
INLINE WITH_baseline void add_products_baseline(products *sums, const int16_t *samples, int32_t weights) {
  for (int part = 0; part < 4; part++) {
    __m128i *sum = (__m128i *)sums + part;
    __m128i loaded = _mm_loadu_si128((const __m128i *)samples + part);
    *sum = _mm_add_epi32(*sum, _mm_madd_epi16(loaded, _mm_set1_epi32(weights)));
  }
}

INLINE WITH_avx2 void add_products_avx2(products *sums, const int16_t *samples, int32_t weights) {
  for (int part = 0; part < 2; part++) {
    __m256i *sum = (__m256i *)sums + part;
    __m256i loaded = _mm256_loadu_si256((const __m256i *)samples + part);
    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(loaded, _mm256_set1_epi32(weights)));
  }
}

INLINE WITH_avx512 void add_products_avx512(products *sums, const int16_t *samples, int32_t weights) {
  *sums = (products)_mm512_dpwssd_epi32((__m512i)*sums, _mm512_loadu_si512(samples), _mm512_set1_epi32(weights));
}
#else
INLINE void add_products_baseline(products *sums, const int16_t *samples, int32_t weights) {
  int16_t factors[2];
  memcpy(factors, &weights, sizeof factors);
  for (int index = 0; index < 16; index++)
    (*sums)[index] += samples[2 * index] * factors[0] + samples[2 * index + 1] * factors[1];
}
#endif

/// The two weights of a pair, as one integer.
INLINE int32_t load_weights(const int16_t *weights, int pair) {
  int32_t both;
  memcpy(&both, weights + 2 * (ptrdiff_t)pair, sizeof both);
  return both;
}

/// Eight elements of a row, and as many of the row eight rows further down.
INLINE words both(eight upper, eight lower) {
  return __builtin_shufflevector(upper, lower, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/// Transposes the upper and the lower eight of 16 rows: interleaves rows of both halves of a block three times.
INLINE void transpose(words block[8]) {
  for (int round = 0; round < 3; round++) {
    words next[8];
    for (int row = 0; row < 4; row++) {
      words one = block[row], other = block[row + 4];
      next[2 * row] = __builtin_shufflevector(one, other, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
      next[2 * row + 1] = __builtin_shufflevector(one, other, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    memcpy(block, next, sizeof next);
  }
}

/// Transposes four rows of two pairs within each half of a vector, then exchanges halves.
INLINE void transpose_pairs(eight_pairs block[8]) {
  eight_pairs quads[8];
  for (int half = 0; half < 8; half += 4) {
    eight_pairs a = block[half], b = block[half + 1], c = block[half + 2], d = block[half + 3];
    eight_pairs low_ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    eight_pairs high_ab = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    eight_pairs low_cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    eight_pairs high_cd = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
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

/// Converts the rows of a group, where each sample is one of the plane, to pairs of columns.
INLINE void gather(const cplanes_group *group) {
  for (int index = 0; 16 * index < group->width; index++) {
    words block[8];
    for (int row = 0; row < 8; row++) {
      eight upper, lower;
      memcpy(&upper, group->upper[row] + 16 * (ptrdiff_t)index, sizeof upper);
      memcpy(&lower, group->upper[row + 8] + 16 * (ptrdiff_t)index, sizeof lower);
      block[row] = both(upper, lower);
    }
    transpose(block);
    for (int pair = 0; pair < 8; pair++) {
      pair_vector samples = __builtin_convertvector((byte_pairs)block[pair], pair_vector);
      memcpy(group->columns + 32 * (8 * (ptrdiff_t)index + pair), &samples, sizeof samples);
    }
  }
}

/// Eight samples of two rows, each the sum of `shared` stored ones.
INLINE words load_sums(const uint8_t *upper, const uint8_t *lower, int index, int shared) {
  if (shared == 1) {
    eight_bytes samples[2];
    memcpy(&samples[0], upper + 8 * (ptrdiff_t)index, sizeof samples[0]);
    memcpy(&samples[1], lower + 8 * (ptrdiff_t)index, sizeof samples[1]);
    return __builtin_convertvector(
        __builtin_shufflevector(samples[0], samples[1], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), words);
  }
  eight stored[2];
  memcpy(&stored[0], upper + 16 * (ptrdiff_t)index, sizeof stored[0]);
  memcpy(&stored[1], lower + 16 * (ptrdiff_t)index, sizeof stored[1]);
  words samples = both(stored[0], stored[1]);
  return (samples & 0xFF) + (samples >> 8);
}

/// The same where each sample is the sum of two or four.
INLINE void gather_sums(const cplanes_group *group, int shared_columns, int shared_rows) {
  for (int index = 0; 8 * index < group->width; index++) {
    words block[8];
    for (int row = 0; row < 8; row++) {
      block[row] = load_sums(group->upper[row], group->upper[row + 8], index, shared_columns);
      if (shared_rows == 2) block[row] += load_sums(group->lower[row], group->lower[row + 8], index, shared_columns);
    }
    transpose(block);
    for (int pair = 0; pair < 4; pair++) {
      pair_vector samples = __builtin_shufflevector(
          block[2 * pair], block[2 * pair + 1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10,
          26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      memcpy(group->columns + 32 * (4 * (ptrdiff_t)index + pair), &samples, sizeof samples);
    }
  }
}

/// Divides sums by a power of two; what 16 bits cannot hold is clamped.
INLINE vector narrow(products sums, int bits) {
  products quotients = sums >> bits, lowest = (products){} + INT16_MIN, highest = (products){} + INT16_MAX;
  return __builtin_convertvector(
      __builtin_elementwise_min(__builtin_elementwise_max(quotients, lowest), highest), vector);
}

INLINE void resample_group(
    const cplanes_group *group, const cplanes_pairs *pairs, int count, int16_t *const *results, add_products *add) {
  // With numbers that the compiler knows there is no choice for each vector.
  int bits = weight_bits - sample_bits;
  switch (group->shared_columns * 2 + group->shared_rows) {
    case 3: gather(group); break;
    case 4: gather_sums(group, 1, 2), bits += 1; break;
    case 5: gather_sums(group, 2, 1), bits += 1; break;
    default: gather_sums(group, 2, 2), bits += 2;
  }
  for (int first = 0; first < count; first += 8) {
    eight_pairs block[8] = {};
    for (int column = 0; column < 8 && first + column < count; column++) {
      const cplanes_pairs *pairs_of_column = pairs + first + column;
      const int16_t *samples = group->columns + 32 * (ptrdiff_t)pairs_of_column->first;
      products sums = (products){} + (1 << bits >> 1);
      for (int pair = 0; pair < pairs_of_column->count; pair++, samples += 32)
        add(&sums, samples, load_weights(pairs_of_column->weights, pair));
      block[column] = (eight_pairs)narrow(sums, bits);
    }
    transpose_pairs(block);
    for (int row = 0; row < 8; row++) memcpy(results[row] + 2 * (ptrdiff_t)first, &block[row], sizeof block[row]);
  }
}

INLINE void resample_rows(
    const int16_t *const *rows, const int16_t *weights, int count, int width, uint8_t *result, add_products *add) {
  enum { vectors = 2, bits = weight_bits + sample_bits };
  for (int first = 0; first < width; first += 16 * vectors) {
    products sums[vectors];
    for (int index = 0; index < vectors; index++) sums[index] = (products){} + (1 << (bits - 1));
    for (int pair = 0; pair < count; pair++) {
      for (int index = 0; index < vectors; index++)
        add(&sums[index], rows[pair] + 2 * (first + 16 * (ptrdiff_t)index), load_weights(weights, pair));
    }
    for (int index = 0; index < vectors; index++) {
      products samples = sums[index] >> bits, lowest = {}, highest = (products){} + 255;
      samples = __builtin_elementwise_min(__builtin_elementwise_max(samples, lowest), highest);
      bytes stored = __builtin_convertvector(samples, bytes);
      memcpy(result + first + 16 * (ptrdiff_t)index, &stored, sizeof stored);
    }
  }
}

#define GROUP (const cplanes_group *group, const cplanes_pairs *pairs, int count, int16_t *const *results)
#define ROWS (const int16_t *const *rows, const int16_t *weights, int count, int width, uint8_t *result)
#define PLANE_VERSIONS(instructions) \
  VERSION(instructions, resample_group, GROUP, resample_group(group, pairs, count, results, add_products_##instructions)) \
  VERSION(instructions, resample_rows, ROWS, resample_rows(rows, weights, count, width, result, add_products_##instructions))

PLANE_VERSIONS(baseline)
#if defined(__x86_64__)
PLANE_VERSIONS(avx2)
PLANE_VERSIONS(avx512)
#endif
CHOICE(resample_group, GROUP, (group, pairs, count, results))
CHOICE(resample_rows, ROWS, (rows, weights, count, width, result))
