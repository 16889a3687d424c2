#pragma once
#include "vectors.h"

/// Adds rows of samples to sums of columns: all rows for some columns, then for the next, so that sums stay in a register.
INLINE void add_rows(uint16_t *sums, const uint8_t *samples, ptrdiff_t stride, int rows, int width) {
  for (int column = 0; column < width; column += 16) {
    words sum;
    memcpy(&sum, sums + column, sizeof sum);
    const uint8_t *row = samples + column;
    for (int index = 0; index < rows; index++, row += stride) sum += __builtin_convertvector(load_bytes(row, 0), words);
    memcpy(sums + column, &sum, sizeof sum);
  }
}

/// Stores `count` rounded means of `factor` columns each, at most 65 536 samples. With a product instead of a quotient, which
/// would take longer than all the sums.
INLINE void average(const uint16_t *sums, int count, int factor, int rows, uint8_t *means) {
  uint32_t samples = (uint32_t)(factor * rows);
  uint64_t reciprocal = ((uint64_t)1 << 32) / samples + 1;
  for (int index = 0; index < count; index++, sums += factor) {
    uint32_t sum = samples / 2;
    for (int column = 0; column < factor; column++) sum += sums[column];
    uint64_t mean = (sum * reciprocal) >> 32;
    means[index] = mean < 255 ? (uint8_t)mean : 255;
  }
}

INLINE void add_floats(float *sums, const float *samples, const float *alpha, int count) {
  for (int index = 0; index < count; index += 8) {
    floats sample = load_floats(samples, index);
    if (alpha) sample = (sample - 1) * load_floats(alpha, index);
    sample += load_floats(sums, index);
    memcpy(sums + index, &sample, sizeof sample);
  }
}

/// Stores `count` means of `factor` columns each.
INLINE void average_floats(const float *sums, int count, int factor, int rows, float offset, float *means) {
  float reciprocal = 1 / ((float)factor * (float)rows);
  for (int index = 0; index < count; index++, sums += factor) {
    float sum = 0;
    for (int column = 0; column < factor; column++) sum += sums[column];
    means[index] = sum * reciprocal + offset;
  }
}
