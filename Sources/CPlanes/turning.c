#include "cplanes.h"
#include "vectors.h"

/// Interleaves rows of the upper and the lower half four times, which transposes them.
INLINE void transpose_bytes(bytes block[16]) {
  for (int round = 0; round < 4; round++) {
    bytes next[16];
    for (int row = 0; row < 8; row++) {
      bytes one = block[row], other = block[row + 8];
      next[2 * row] =
          __builtin_shufflevector(one, other, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * row + 1] =
          __builtin_shufflevector(one, other, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    memcpy(block, next, sizeof next);
  }
}

void cplanes_transpose(const uint8_t *source, ptrdiff_t next_row, int count, uint8_t *const *rows) {
  for (int index = 0; index < count; index++) {
    bytes block[16];
    for (int row = 0; row < 16; row++) block[row] = load_bytes(source + (16 * index + row) * next_row, 0);
    transpose_bytes(block);
    for (int row = 0; row < 16; row++) memcpy(rows[row] + 16 * index, &block[row], sizeof block[row]);
  }
}
