#include "cdeflate.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

/// The filter types of PNG that are used (W3C PNG, third edition, § 9.2).
enum { filter_none, filter_sub, filter_up, filter_count };

/// Of libdeflate. Level 1 takes two thirds of the time for files that are 1.5 to 5 % larger.
enum { level = 2 };

struct cdeflate_rows {
  cdeflate_layout layout;
  size_t pixel;                     // Bytes of a pixel in the file,
  size_t count;                     // and of a row.
  uint8_t *memory;                  // Of the following four rows.
  uint8_t *previous;
  uint8_t *filtered[filter_count];  // The current row after each filter, behind its type. The first is the row itself.
  uint8_t *taken;                   // All rows so far, with the filters that were chosen,
  size_t taken_count;               // and their bytes.
  uint8_t *packed;                  // The stream.
};

cdeflate_rows *cdeflate_open(cdeflate_layout layout) {
  cdeflate_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) return NULL;
  rows->layout = layout;
  rows->pixel = (size_t)layout.samples * (size_t)layout.sample_bytes;
  rows->count = layout.width * rows->pixel;
  // The row above the first is 0.
  rows->memory = calloc(filter_count + 1, rows->count + 1);
  rows->taken = malloc(layout.height * (rows->count + 1));
  if (rows->memory == NULL || rows->taken == NULL) {
    cdeflate_close(rows);
    return NULL;
  }
  rows->previous = rows->memory;
  for (int type = 0; type < filter_count; type++) {
    rows->filtered[type] = rows->memory + (size_t)(type + 1) * (rows->count + 1);
    rows->filtered[type][0] = (uint8_t)type;
  }
  return rows;
}

/// Copies a row as the file has it: without filler, with the higher byte first.
static void pack(const cdeflate_rows *rows, const uint8_t *from, uint8_t *to) {
  size_t width = rows->layout.width;
  size_t samples = (size_t)rows->layout.samples, stored = samples + (rows->layout.has_filler ? 1 : 0);
  if (rows->layout.sample_bytes == 2) {
    for (size_t pixel = 0; pixel < width; pixel++) {
      for (size_t sample = 0; sample < samples; sample++) {
        to[2 * (pixel * samples + sample)] = from[2 * (pixel * stored + sample) + 1];
        to[2 * (pixel * samples + sample) + 1] = from[2 * (pixel * stored + sample)];
      }
    }
  } else if (rows->layout.has_filler) {
    for (size_t pixel = 0; pixel < width; pixel++) memcpy(to + pixel * samples, from + pixel * stored, samples);
  } else {
    memcpy(to, from, rows->count);
  }
}

/// Subtracts from each byte that of another row, or of another pixel.
static void subtract(const uint8_t *from, const uint8_t *other, size_t count, uint8_t *difference) {
  for (size_t i = 0; i < count; i++) difference[i] = (uint8_t)(from[i] - other[i]);
}

/// The sum of all differences without their signs: the smaller, the better the row is compressed.
static uint64_t cost(const uint8_t *differences, size_t count) {
  uint64_t sum = 0;
  while (count > 0) {
    size_t part = count < 1 << 16 ? count : 1 << 16;
    uint32_t part_sum = 0;
    for (size_t i = 0; i < part; i++) part_sum += differences[i] < 128 ? differences[i] : 256u - differences[i];
    sum += part_sum;
    differences += part;
    count -= part;
  }
  return sum;
}

/// Whether a row is of few colours with sharp edges between them, as in a screenshot: such rows repeat exactly, and are smaller
/// without a filter.
static int is_flat(const uint8_t *differences, size_t count, uint64_t cost) {
  size_t edges = 0;
  for (size_t i = 0; i < count; i++) edges += differences[i] != 0;
  return edges < count / 4 && cost > 16 * (uint64_t)edges;
}

/// The filter of the current row, of which all have been computed.
static int best_filter(const cdeflate_rows *rows) {
  const uint8_t *sub = rows->filtered[filter_sub] + 1;
  uint64_t sub_cost = cost(sub, rows->count);
  if (is_flat(sub, rows->count, sub_cost)) return filter_none;
  return cost(rows->filtered[filter_up] + 1, rows->count) < sub_cost ? filter_up : filter_sub;
}

void cdeflate_add(cdeflate_rows *rows, const void *row) {
  uint8_t *above = rows->filtered[filter_none];
  rows->filtered[filter_none] = rows->previous;
  rows->previous = above;
  uint8_t *current = rows->filtered[filter_none] + 1, *sub = rows->filtered[filter_sub] + 1;
  pack(rows, row, current);
  memcpy(sub, current, rows->pixel);
  subtract(current + rows->pixel, current, rows->count - rows->pixel, sub + rows->pixel);
  subtract(current, above + 1, rows->count, rows->filtered[filter_up] + 1);
  if (rows->taken_count == rows->layout.height * (rows->count + 1)) return;
  memcpy(rows->taken + rows->taken_count, rows->filtered[best_filter(rows)], rows->count + 1);
  rows->taken_count += rows->count + 1;
}

size_t cdeflate_finish(cdeflate_rows *rows, const uint8_t **bytes) {
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
  if (compressor == NULL) return 0;
  size_t capacity = libdeflate_zlib_compress_bound(compressor, rows->taken_count), count = 0;
  rows->packed = malloc(capacity);
  if (rows->packed != NULL) {
    count = libdeflate_zlib_compress(compressor, rows->taken, rows->taken_count, rows->packed, capacity);
  }
  libdeflate_free_compressor(compressor);
  *bytes = rows->packed;
  return count;
}

void cdeflate_close(cdeflate_rows *rows) {
  if (rows == NULL) return;
  free(rows->memory);
  free(rows->taken);
  free(rows->packed);
  free(rows);
}
