#pragma once
#include <stddef.h>
#include <stdint.h>

// The inner loops of `PlaneKernel`. In C because a processor's wider vectors are asked for by function here, which Swift
// cannot do: the same text is compiled for what every x86-64 has and for AVX2, and the right one is taken at run time.

/// 16 times the same number, or 16 samples. Numbers lie in memory as vectors: what is loaded next to a multiplication is
/// known to have 16 bits, and the product's upper half takes a single instruction then.
typedef int16_t cplanes_vector __attribute__((vector_size(32)));

/// Numbers of a stage: nine factors, three offsets, the limit of the result, and what brings it to the scale of the input.
enum { cplanes_stage_size = 14 };

/// The numbers of a kernel; what they are is said where Swift computes them. All are `cplanes_vector`s, at multiples of
/// their size; Swift would make pointers to such opaque.
typedef struct {
  const void *conversions;  // 10: `PlaneKernel.conversions`.
  const void *stages;       // `cplanes_stage_size` of each stage: `PlaneStages`.
  int stage_count;          // At least one.
  const void *shortcut;     // 12: `PlaneShortcut`; NULL where there is none.
  const void *bounds;       // 4 of each bound: `PlaneLimits`.
  int bound_count;
  unsigned int bound_extremes;  // Three bits of each bound, the first bound's lowest.
} cplanes_kernel;

/// An upper and a lower row of samples; of chroma that rows share, one row twice.
typedef struct {
  uint8_t *upper, *lower;
} cplanes_pair;

/// Two rows of luma, and the chroma that belongs to them.
typedef struct {
  cplanes_pair luma, blue, red;
  ptrdiff_t next_row;  // How far away the next row of chroma is; 0 where no rows share any.
  int shared_columns, shared_rows;  // How many of luma share a sample of chroma: 1 or 2.
} cplanes_rows;

/// Computes 32 columns of `result` at an index, for `count` indices, from `source`, which does not overlap it. Of chroma
/// that is shared, one sample beyond both ends of a row is read, and where `next_row` is not 0 a row above and one below.
void cplanes_apply(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count);

/// The same with the vectors that every processor has.
void cplanes_apply_portable(const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count);
