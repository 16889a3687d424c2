#include "cplanes.h"
#include "vectors.h"
#include "versions.h"

// Resampling in floats. Products are added in the order of their samples, so that results are identical in whichever loop they are
// computed.

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
    resample_columns, (const cplanes_taps *taps, int count, const float *columns, float *results),
    (taps, count, columns, results))
VERSIONS(
    add_product, (float *sums, const float *samples, float factor, ptrdiff_t count), (sums, samples, factor, count))
