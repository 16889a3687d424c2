#pragma once
#include "vectors.h"

// The slow path, for all columns. Each pixel is converted to red, green and blue, clamped to 0…255, passes the
// stages, each clamped, and is converted back; chroma is the mean over the pixels of a sample.

/// Colours, or their differences to luma, in samples times 64.
typedef struct {
  vector red, green, blue;
} colours;

/// Luma and the differences of blue and red to it, in samples times 64.
typedef struct {
  vector luma, blue, red;
} pixels;

/// The pixels of 32 columns of a row.
typedef struct {
  pixels even, odd;
} columns;

/// 16 samples of chroma times 4, interpolated vertically: three quarters of a row and one of its neighbour.
INLINE vector between(const uint8_t *row, int index, ptrdiff_t beyond) {
  return load(row, index) * 3 + load(row + beyond, index);
}

/// The chroma of 32 columns as (C - 128) * 256, interpolated as in decoders: in each subsampled direction three
/// quarters of the sample and one of its neighbour on the pixel's side.
INLINE pair interpolated(const uint8_t *row, int index, ptrdiff_t beyond, int shared_columns) {
  if (shared_columns == 2) {
    vector left = between(row - 1, index, beyond), right = between(row + 1, index, beyond);
    vector own = between(row, index, beyond) * 3 - 2048;
    return (pair){(own + left) << 4, (own + right) << 4};
  }
  pair own = load_pair(row, index), other = load_pair(row + beyond, index);
  return (pair){(own.even * 3 + other.even - 512) << 6, (own.odd * 3 + other.odd - 512) << 6};
}

/// Computes the differences of red, green and blue to luma: ITU-T T.871 § 7.
INLINE colours terms(const vector *number, vector blue, vector red) {
  return (colours){
      .red = upper_half(red, number),
      .green = -upper_half(blue, number + 1) - upper_half(red, number + 2),
      .blue = upper_half(blue, number + 3),
  };
}

INLINE vector row_of_stage(const vector *factor, colours pixel) {
  return upper_half(pixel.red, factor) + upper_half(pixel.green, factor + 1) + upper_half(pixel.blue, factor + 2);
}

/// Applies a stage. `zero` is a vector in memory, see `clamped`.
INLINE colours apply_stage(colours pixel, const vector *stage, const vector *zero) {
  return (colours){
      .red = clamped(row_of_stage(stage, pixel) + stage[9], zero, stage + 12) * stage[13],
      .green = clamped(row_of_stage(stage + 3, pixel) + stage[10], zero, stage + 12) * stage[13],
      .blue = clamped(row_of_stage(stage + 6, pixel) + stage[11], zero, stage + 12) * stage[13],
  };
}

/// Converts pixels to colours, applies the stages and converts back.
INLINE pixels filtered(const cplanes_kernel *kernel, vector luma, vector blue, vector red) {
  const vector *number = kernel->conversions, *zero = number + 8, *stages = kernel->stages;
  colours term = terms(number, blue, red);
  colours pixel = {
      .red = clamped(luma + term.red, zero, number + 9),
      .green = clamped(luma + term.green, zero, number + 9),
      .blue = clamped(luma + term.blue, zero, number + 9),
  };
  for (int stage = 0; stage < kernel->stage_count; stage++)
    pixel = apply_stage(pixel, stages + stage * cplanes_stage_size, zero);
  // 0.299 R + 0.587 G + 0.114 B.
  vector sum = pixel.green + upper_half(pixel.red - pixel.green, number + 4) +
               upper_half(pixel.blue - pixel.green, number + 5);
  return (pixels){sum, pixel.blue - sum, pixel.red - sum};
}

/// Filters 32 columns of a row and stores their luma.
INLINE columns filter_row(
    const cplanes_kernel *kernel, const uint8_t *luma, pair blue, pair red, uint8_t *result, int index) {
  pair samples = load_pair(luma, index);
  columns all = {
      .even = filtered(kernel, samples.even << 6, blue.even, red.even),
      .odd = filtered(kernel, samples.odd << 6, blue.odd, red.odd),
  };
  store_pair((all.even.luma + 32) >> 6, (all.odd.luma + 32) >> 6, result, index);
  return all;
}

/// Converts differences to luma, in samples times 128, to chroma. 8224 is 128.5 times 64; the maximum would round to
/// 256.
INLINE vector to_chroma(vector difference, const vector *number) {
  return lesser((upper_half(difference, number) + 8224) >> 6, (vector){} + 255);
}

/// Stores the chroma of two rows, computed from each pixel's difference to luma.
INLINE void store_differences(
    pair upper, pair lower, const vector *number, const cplanes_rows *result, cplanes_pair rows, int index) {
  if (result->shared_columns == 2 && result->shared_rows == 2) {
    store(
        to_chroma(((upper.even + upper.odd) >> 1) + ((lower.even + lower.odd) >> 1), number), rows.upper, index);
  } else if (result->shared_columns == 2) {
    store(to_chroma(upper.even + upper.odd, number), rows.upper, index);
    store(to_chroma(lower.even + lower.odd, number), rows.lower, index);
  } else if (result->shared_rows == 2) {
    store_pair(
        to_chroma(upper.even + lower.even, number), to_chroma(upper.odd + lower.odd, number), rows.upper, index);
  } else {
    store_pair(to_chroma(upper.even << 1, number), to_chroma(upper.odd << 1, number), rows.upper, index);
    store_pair(to_chroma(lower.even << 1, number), to_chroma(lower.odd << 1, number), rows.lower, index);
  }
}

/// Computes 32 columns from any sampling to any.
INLINE void slow_path(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int index) {
  ptrdiff_t beyond = source->next_row;
  int shared = source->shared_columns;
  columns upper = filter_row(
      kernel, source->luma.upper, interpolated(source->blue.upper, index, -beyond, shared),
      interpolated(source->red.upper, index, -beyond, shared), result->luma.upper, index);
  columns lower = filter_row(
      kernel, source->luma.lower, interpolated(source->blue.lower, index, beyond, shared),
      interpolated(source->red.lower, index, beyond, shared), result->luma.lower, index);
  const vector *number = kernel->conversions;
  pair upper_blue = {upper.even.blue, upper.odd.blue}, lower_blue = {lower.even.blue, lower.odd.blue};
  pair upper_red = {upper.even.red, upper.odd.red}, lower_red = {lower.even.red, lower.odd.red};
  store_differences(upper_blue, lower_blue, number + 6, result, result->blue, index);
  store_differences(upper_red, lower_red, number + 7, result, result->red, index);
}
