#pragma once
#include <stddef.h>
#include <stdint.h>

// The inner loops of `PlaneKernel`, `ResampledPlane`, `ResampledColumns`, `PlanePreview`, `RowPreview` and `TurnedPlanes`. In
// C because C can enable a processor's wider vectors for a single function, which Swift cannot: the same code is compiled for
// the x86-64 baseline, for AVX2 and for AVX-512, and one is chosen at run time. The results are the same.

/// The instructions that a loop is compiled for.
typedef enum { cplanes_baseline, cplanes_avx2, cplanes_avx512 } cplanes_instructions;

/// The last of them that the processor has; those before it, too, may be used.
cplanes_instructions cplanes_supported(void);

/// 16 samples, or a coefficient repeated 16 times. Coefficients are loaded from memory as vectors: the compiler then
/// knows that they have 16 bits, and computes the upper half of a product with a single instruction.
typedef int16_t cplanes_vector __attribute__((vector_size(32)));

/// Vectors of a stage: nine factors, three offsets, the maximum of the result, and the factor from its scale to that
/// of the input.
enum { cplanes_stage_size = 14 };

/// The coefficients of a kernel, documented where Swift computes them. All are arrays of `cplanes_vector`, aligned to
/// its size; as `void` because Swift imports pointers to vectors as opaque.
typedef struct {
  const void *conversions;  // 10: `PlaneKernel.conversions`.
  const void *stages;       // `cplanes_stage_size` of each stage: `PlaneStages`.
  int stage_count;          // At least one.
  const void *fast_path;    // 12: `PlaneFastPath`; NULL when there is none.
  const void *bounds;       // 4 of each bound: `PlaneLimits`.
  int bound_count;
  unsigned int bound_extremes;  // Three bits of each bound, the first bound's lowest.
} cplanes_kernel;

/// An upper and a lower row of samples; the same row twice for chroma that is subsampled vertically.
typedef struct {
  uint8_t *upper, *lower;
} cplanes_pair;

/// Two rows of luma and their chroma.
typedef struct {
  cplanes_pair luma, blue, red;
  ptrdiff_t next_row;  // The distance to the next row of chroma; 0 when chroma is not subsampled vertically.
  int shared_columns, shared_rows;  // Luma columns and rows per chroma sample: 1 or 2.
} cplanes_rows;

/// Computes `count` times 32 columns of `result` from `source`, which must not overlap. Of subsampled chroma, one
/// sample before and after each row is read, and when `next_row` is not 0 also the rows above and below.
void cplanes_apply(
    cplanes_instructions instructions, const cplanes_kernel *kernel, cplanes_rows source, cplanes_rows result, int count);

/// Adds `rows` rows of samples, `stride` apart, to sums of columns. `width` is a multiple of 16. As many as 257 rows of 255 fit.
void cplanes_add_rows(
    cplanes_instructions instructions, uint16_t *sums, const uint8_t *samples, ptrdiff_t stride, int rows, int width);

/// Stores the rounded means of `factor` columns each, and of fewer at the end, from the sums of `rows` rows of `width`
/// columns, and clears the sums.
void cplanes_average(uint16_t *sums, int width, int factor, int rows, uint8_t *means);

/// Adds `count` samples, a multiple of 8, to sums. With alpha, which may be NULL, (sample - 1) * alpha is added: the difference
/// to white of what is laid on it.
void cplanes_add_floats(
    cplanes_instructions instructions, float *sums, const float *samples, const float *alpha, int count);

/// Stores the means of `factor` columns each, and of fewer at the end, from the sums of `rows` rows of `width` columns, plus
/// `offset`.
void cplanes_average_floats(const float *sums, int width, int factor, int rows, float offset, float *means);

/// The input samples of an output sample: `count` of them from `first` on, each with a weight.
typedef struct {
  int first, count;
  const float *weights;
} cplanes_taps;

/// The same for pairs of input samples: pair i has the samples 2i and 2i + 1. Weights are multiplied by 16384.
typedef struct {
  int first, count;  // In pairs.
  const int16_t *weights;  // Two for each pair.
} cplanes_pairs;

/// The rows that are resampled at once: they share the loads of weights.
enum { cplanes_group_rows = 16 };

/// Rows of a stored plane, which `cplanes_resample_group` reads.
typedef struct {
  const uint8_t *upper[cplanes_group_rows];
  const uint8_t *lower[cplanes_group_rows];  // Used when a sample is the mean of two rows.
  int shared_columns, shared_rows;           // Stored columns and rows per sample: 1 or 2.
  int width;         // Samples of a row. As many as make it a multiple of 16 are read, with any value.
  int16_t *columns;  // Scratch memory: `cplanes_group_rows` for each of the samples that are read.
} cplanes_group;

/// Resamples the rows of a group to `count` columns, as many as make it a multiple of 8 with any value. Results are multiplied by 64,
/// and stored as pairs of two rows: `results` has `cplanes_group_rows` / 2 pointers, each to `count` pairs.
void cplanes_resample_group(
    cplanes_instructions instructions, const cplanes_group *group, const cplanes_pairs *pairs, int count,
    int16_t *const *results);

/// Resamples such pairs of rows to one row: stores the sum of `count` pairs, each with two weights, rounded and clamped to 0…255. As
/// many columns as make `width` a multiple of 32 are read and stored.
void cplanes_resample_rows(
    cplanes_instructions instructions, const int16_t *const *rows, const int16_t *weights, int count, int width,
    uint8_t *result);

/// Resamples columns of eight to `count` columns of eight.
void cplanes_resample_columns(
    cplanes_instructions instructions, const cplanes_taps *taps, int count, const float *columns, float *results);

/// Adds `count` samples, a multiple of 8, times a factor to sums.
void cplanes_add_product(
    cplanes_instructions instructions, float *sums, const float *samples, float factor, ptrdiff_t count);

/// Transposes 16 columns of `count` times 16 rows: column i becomes `rows[i]`. Reads 16 samples of each row; rows are `next_row`
/// apart, which may be negative. Compiled once, for every processor.
void cplanes_transpose(const uint8_t *source, ptrdiff_t next_row, int count, uint8_t *const *rows);
