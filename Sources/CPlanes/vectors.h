#pragma once
#include <string.h>
#include "cplanes.h"

// Vectors are passed only to functions that are always inlined, so the calling convention does not matter.
#pragma clang diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

// Products are rounded before they are added, so that results are identical on every processor.
#pragma clang fp contract(off)

// Vector arithmetic wraps around; results that overflow are discarded.
typedef cplanes_vector vector;
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(32)));
typedef int32_t products __attribute__((vector_size(64)));

/// The samples of 32 columns, the 16 even ones first.
typedef int16_t wide __attribute__((vector_size(64)));
typedef int32_t wide_products __attribute__((vector_size(128)));

INLINE wide join(vector even, vector odd) {
  return __builtin_shufflevector(
      even, odd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
      30, 31);
}

INLINE vector even(wide all) {
  return __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

INLINE vector odd(wide all) {
  return __builtin_shufflevector(all, all, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

/// The same 16 elements twice.
INLINE wide twice(vector half) { return join(half, half); }

/// The upper 16 bits of the products with a coefficient in memory.
INLINE vector upper_half(vector factor, const vector *number) {
  products product = __builtin_convertvector(factor, products) * __builtin_convertvector(*number, products);
  return __builtin_convertvector(product >> 16, vector);
}

/// The same for 32 columns.
INLINE wide upper_half_wide(wide factor, const vector *number) {
  wide_products product =
      __builtin_convertvector(factor, wide_products) * __builtin_convertvector(twice(*number), wide_products);
  return __builtin_convertvector(product >> 16, wide);
}

INLINE vector lesser(vector one, vector other) { return __builtin_elementwise_min(one, other); }

INLINE vector greater(vector one, vector other) { return __builtin_elementwise_max(one, other); }

/// Clamps each element to bounds in memory. From constant bounds the compiler would infer that no element is
/// negative, and choose a slower multiplication afterwards.
INLINE wide clamped(wide value, const vector *lowest, const vector *highest) {
  return __builtin_elementwise_min(__builtin_elementwise_max(value, twice(*lowest)), twice(*highest));
}

INLINE bytes load_bytes(const uint8_t *row, int index) {
  bytes samples;
  memcpy(&samples, row + index * (int)sizeof samples, sizeof samples);
  return samples;
}

/// 16 samples.
INLINE vector load(const uint8_t *row, int index) { return __builtin_convertvector(load_bytes(row, index), vector); }

/// Stores 16 samples of 0…255.
INLINE void store(vector samples, uint8_t *row, int index) {
  bytes narrow = __builtin_convertvector(samples, bytes);
  memcpy(row + index * (int)sizeof narrow, &narrow, sizeof narrow);
}

/// 32 samples.
INLINE wide load_wide(const uint8_t *row, int index) {
  words both;
  memcpy(&both, row + index * (int)sizeof both, sizeof both);
  return join((vector)(both & 0xFF), (vector)(both >> 8));
}

/// Stores 32 samples of 0…255.
INLINE void store_wide(wide samples, uint8_t *row, int index) {
  words both = (words)even(samples) | (words)odd(samples) << 8;
  memcpy(row + index * (int)sizeof both, &both, sizeof both);
}

/// 8 samples or sums.
typedef float floats __attribute__((vector_size(32)));

INLINE floats load_floats(const float *row, ptrdiff_t index) {
  floats samples;
  memcpy(&samples, row + index, sizeof samples);
  return samples;
}

INLINE void store_floats(floats samples, float *row, ptrdiff_t index) { memcpy(row + index, &samples, sizeof samples); }
