#pragma once
#include "vectors.h"

// The slow path, for all columns. Each pixel is converted to red, green and blue, clamped to 0…255, passes the
// stages, each clamped, and is converted back; chroma is the mean over the pixels of a sample.

/// Colours of 32 columns, or their differences to luma, in samples times 64.
typedef struct {
  wide red, green, blue;
} colours;

/// Luma of 32 columns and the differences of blue and red to it, in samples times 64.
typedef struct {
  wide luma, blue, red;
} pixels;

/// 16 samples of chroma times 4, interpolated vertically: three quarters of a row and one of its neighbour.
INLINE vector between(const uint8_t *row, int index, ptrdiff_t beyond) {
  return load(row, index) * 3 + load(row + beyond, index);
}

/// The chroma of 32 columns as (C - 128) * 256, interpolated as in decoders: in each subsampled direction three
/// quarters of the sample and one of its neighbour on the pixel's side.
INLINE wide interpolated(const uint8_t *row, int index, ptrdiff_t beyond, int shared_columns) {
  if (shared_columns == 2) {
    vector left = between(row - 1, index, beyond), right = between(row + 1, index, beyond);
    vector own = between(row, index, beyond) * 3 - 2048;
    return join(own + left, own + right) << 4;
  }
  return (load_wide(row, index) * 3 + load_wide(row + beyond, index) - 512) << 6;
}

/// Computes the differences of red, green and blue to luma: ITU-T T.871 § 7.
INLINE colours terms(const vector *number, wide blue, wide red) {
  return (colours){
      .red = upper_half_wide(red, number),
      .green = -upper_half_wide(blue, number + 1) - upper_half_wide(red, number + 2),
      .blue = upper_half_wide(blue, number + 3),
  };
}

INLINE wide row_of_stage(const vector *factor, colours pixel) {
  return upper_half_wide(pixel.red, factor) + upper_half_wide(pixel.green, factor + 1) +
         upper_half_wide(pixel.blue, factor + 2);
}

/// Applies a stage. `zero` is a vector in memory, see `clamped`.
INLINE colours apply_stage(colours pixel, const vector *stage, const vector *zero) {
  return (colours){
      .red = clamped(row_of_stage(stage, pixel) + twice(stage[9]), zero, stage + 12) * twice(stage[13]),
      .green = clamped(row_of_stage(stage + 3, pixel) + twice(stage[10]), zero, stage + 12) * twice(stage[13]),
      .blue = clamped(row_of_stage(stage + 6, pixel) + twice(stage[11]), zero, stage + 12) * twice(stage[13]),
  };
}

/// Converts pixels to colours, applies the stages and converts back.
INLINE pixels filtered(const cplanes_kernel *kernel, wide luma, wide blue, wide red) {
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
  wide sum = pixel.green + upper_half_wide(pixel.red - pixel.green, number + 4) +
             upper_half_wide(pixel.blue - pixel.green, number + 5);
  return (pixels){sum, pixel.blue - sum, pixel.red - sum};
}

/// Filters 32 columns of a row and stores their luma.
INLINE pixels filter_row(
    const cplanes_kernel *kernel, const uint8_t *luma, wide blue, wide red, uint8_t *result, int index) {
  pixels all = filtered(kernel, load_wide(luma, index) << 6, blue, red);
  store_wide((all.luma + 32) >> 6, result, index);
  return all;
}

/// Converts differences to luma, in samples times 128, to chroma. 8224 is 128.5 times 64; the maximum would round to
/// 256.
INLINE vector to_chroma(vector difference, const vector *number) {
  return lesser((upper_half(difference, number) + 8224) >> 6, (vector){} + 255);
}

INLINE wide to_chroma_wide(wide difference, const vector *number) {
  return __builtin_elementwise_min((upper_half_wide(difference, number) + 8224) >> 6, (wide){} + 255);
}

/// Stores the chroma of two rows, computed from each pixel's difference to luma.
INLINE void store_differences(
    wide upper, wide lower, const vector *number, const cplanes_rows *result, cplanes_pair rows, int index) {
  if (result->shared_columns == 2 && result->shared_rows == 2) {
    store(to_chroma(((even(upper) + odd(upper)) >> 1) + ((even(lower) + odd(lower)) >> 1), number), rows.upper, index);
  } else if (result->shared_columns == 2) {
    store(to_chroma(even(upper) + odd(upper), number), rows.upper, index);
    store(to_chroma(even(lower) + odd(lower), number), rows.lower, index);
  } else if (result->shared_rows == 2) {
    store_wide(to_chroma_wide(upper + lower, number), rows.upper, index);
  } else {
    store_wide(to_chroma_wide(upper << 1, number), rows.upper, index);
    store_wide(to_chroma_wide(lower << 1, number), rows.lower, index);
  }
}

/// Computes 32 columns from any sampling to any.
INLINE void slow_path(
    const cplanes_kernel *kernel, const cplanes_rows *source, const cplanes_rows *result, int index) {
  ptrdiff_t beyond = source->next_row;
  int shared = source->shared_columns;
  pixels upper = filter_row(
      kernel, source->luma.upper, interpolated(source->blue.upper, index, -beyond, shared),
      interpolated(source->red.upper, index, -beyond, shared), result->luma.upper, index);
  pixels lower = filter_row(
      kernel, source->luma.lower, interpolated(source->blue.lower, index, beyond, shared),
      interpolated(source->red.lower, index, beyond, shared), result->luma.lower, index);
  const vector *number = kernel->conversions;
  store_differences(upper.blue, lower.blue, number + 6, result, result->blue, index);
  store_differences(upper.red, lower.red, number + 7, result, result->red, index);
}
