#pragma once
#include "vectors.h"

// The fast path, for columns in which no pixel clips before or after a single stage. An affine map of red, green and
// blue is then one of Y, Cb and Cr, and the chroma of a result in 4:2:0 is that of the mean of its four pixels.
//
// Luma is represented as (Y - 128) * 64, chroma as (C - 128) * 256.

/// The minimum and maximum over several vectors, element by element.
typedef struct {
  vector lowest, highest;
} extremes;

INLINE extremes extremes_of(wide upper, wide lower) {
  wide lowest = __builtin_elementwise_min(upper, lower), highest = __builtin_elementwise_max(upper, lower);
  return (extremes){.lowest = lesser(even(lowest), odd(lowest)), .highest = greater(even(highest), odd(highest))};
}

/// Whether no pixel within these extremes clips. A bound is an affine map of Y, Cb and Cr that must not be negative;
/// it is least at one extreme of each.
INLINE int is_within_bounds(const cplanes_kernel *kernel, extremes luma, extremes blue, extremes red) {
  const vector *number = kernel->conversions;
  vector low = luma.lowest + 8192, high = 255 * 64 - 8192 - luma.highest;
  vector outside =
      (low + upper_half(red.lowest, number)) | (high - upper_half(red.highest, number)) |
      (low - upper_half(blue.highest, number + 1) - upper_half(red.highest, number + 2)) |
      (high + upper_half(blue.lowest, number + 1) + upper_half(red.lowest, number + 2)) |
      (low + upper_half(blue.lowest, number + 3)) | (high - upper_half(blue.highest, number + 3));
  vector all[] = {luma.lowest, luma.highest, blue.lowest, blue.highest, red.lowest, red.highest};
  const vector *bound = kernel->bounds;
  unsigned int choice = kernel->bound_extremes;
  for (int index = 0; index < kernel->bound_count; index++, bound += 4, choice >>= 3) {
    outside |= upper_half(all[choice & 1], bound) + upper_half(all[2 + (choice >> 1 & 1)], bound + 1) +
               upper_half(all[4 + (choice >> 2 & 1)], bound + 2) + bound[3];
  }
  return !__builtin_reduce_or((vector)(outside < 0));
}

/// The difference of chroma samples to their neighbours beyond 12 of 255, up to which chroma is not interpolated; 0
/// below.
INLINE bytes unevenness(const uint8_t *row, int index, ptrdiff_t next_row) {
  bytes own = load_bytes(row, index), left = load_bytes(row - 1, index), right = load_bytes(row + 1, index);
  bytes above = load_bytes(row - next_row, index), below = load_bytes(row + next_row, index);
  bytes lowest = own, highest = own, neighbours[] = {left, right, above, below};
  for (int neighbour = 0; neighbour < 4; neighbour++) {
    lowest = __builtin_elementwise_min(lowest, neighbours[neighbour]);
    highest = __builtin_elementwise_max(highest, neighbours[neighbour]);
  }
  return __builtin_elementwise_sub_sat(__builtin_elementwise_max(highest - own, own - lowest), (bytes){} + 12);
}

/// The luma of 32 columns. Centred, because for elements that are never negative the compiler would choose a slower
/// multiplication.
INLINE wide centred(const uint8_t *luma, int index) { return (load_wide(luma, index) << 6) - 8192; }

/// The contribution of chroma to a result.
INLINE vector from_chroma(const vector *number, vector blue, vector red) {
  return upper_half(blue, number + 1) + upper_half(red, number + 2) + number[3];
}

INLINE void store_luma(const vector *number, wide luma, wide terms, uint8_t *row, int index) {
  store_wide((upper_half_wide(luma, number) + terms) >> 4, row, index);
}

/// Stores output chroma, computed from the sum of four luma samples and the input chroma. For RGB colours it is at
/// least 1; the maximum would round to 256.
INLINE void store_chroma(const vector *number, vector sum, vector blue, vector red, uint8_t *row, int index) {
  vector chroma = (upper_half(sum, number) + from_chroma(number, blue, red)) >> 4;
  store(lesser(chroma, (vector){} + 255), row, index);
}

/// Stores output luma, computed from luma and the contribution of chroma, and output chroma, computed from the sum of
/// luma and the mean chroma.
INLINE void store_columns(
    const vector *number, wide upper, wide upper_terms, wide lower, wide lower_terms, vector blue, vector red,
    const cplanes_rows *result, int index) {
  store_luma(number, upper, upper_terms, result->luma.upper, index);
  store_luma(number, lower, lower_terms, result->luma.lower, index);
  wide rows = upper + lower;
  vector sum = even(rows) + odd(rows);
  store_chroma(number + 4, sum, blue, red, result->blue.upper, index);
  store_chroma(number + 8, sum, blue, red, result->red.upper, index);
}

INLINE vector chroma_of_420(const uint8_t *row, int index) { return (load(row, index) - 128) << 8; }

/// Computes 32 columns from 4:2:0 to 4:2:0. Without branches: the results are computed before it is known whether
/// they are valid, also in the function for 4:4:4.
/// - Returns: Whether the results are valid.
INLINE int fast_path_from_420(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int index) {
  bytes uneven = unevenness(source->blue.upper, index, source->next_row) |
                 unevenness(source->red.upper, index, source->next_row);
  vector blue = chroma_of_420(source->blue.upper, index), red = chroma_of_420(source->red.upper, index);
  vector terms = from_chroma(kernel->fast_path, blue, red);
  wide upper = centred(source->luma.upper, index), lower = centred(source->luma.lower, index);
  store_columns(kernel->fast_path, upper, twice(terms), lower, twice(terms), blue, red, result, index);
  int within = is_within_bounds(kernel, extremes_of(upper, lower), (extremes){blue, blue}, (extremes){red, red});
  return within & !__builtin_reduce_or(uneven);
}

INLINE wide chroma_of_444(const uint8_t *row, int index) {
  return (load_wide(row, index) - 128) << 8;
}

/// The mean of the four samples that become one.
INLINE vector mean(wide upper, wide lower) {
  wide rows = (upper >> 2) + (lower >> 2);
  return even(rows) + odd(rows);
}

INLINE wide from_chroma_wide(const vector *number, wide blue, wide red) {
  return upper_half_wide(blue, number + 1) + upper_half_wide(red, number + 2) + twice(number[3]);
}

/// Computes 32 columns from 4:4:4 to 4:2:0.
/// - Returns: Whether the results are valid.
INLINE int fast_path_from_444(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int index) {
  const vector *number = kernel->fast_path;
  wide upper_blue = chroma_of_444(source->blue.upper, index), lower_blue = chroma_of_444(source->blue.lower, index);
  wide upper_red = chroma_of_444(source->red.upper, index), lower_red = chroma_of_444(source->red.lower, index);
  wide upper = centred(source->luma.upper, index), lower = centred(source->luma.lower, index);
  store_columns(
      number, upper, from_chroma_wide(number, upper_blue, upper_red), lower,
      from_chroma_wide(number, lower_blue, lower_red), mean(upper_blue, lower_blue), mean(upper_red, lower_red), result,
      index);
  return is_within_bounds(
      kernel, extremes_of(upper, lower), extremes_of(upper_blue, lower_blue), extremes_of(upper_red, lower_red));
}
