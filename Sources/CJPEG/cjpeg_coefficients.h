#pragma once
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

// A picture with several scans is held as coefficients, some megabytes, in libjpeg's "virtual arrays". libjpeg's
// memory manager allocates and frees them with malloc for each picture, so that every page is mapped again: a fifth
// of the time. These functions replace its three functions for arrays of blocks (libjpeg.txt, "Memory management")
// and use memory that the caller provides and reuses.

/// An array of blocks; libjpeg sees only pointers to it, as `jvirt_barray_ptr`.
typedef struct cjpeg_array {
  struct cjpeg_array *next;
  JBLOCKARRAY rows;      // NULL until memory is assigned.
  JDIMENSION columns, count;
  JDIMENSION defined;    // The number of initialised rows.
} cjpeg_array;

/// The memory of the arrays. The caller owns it; it is aligned at least as a block.
typedef struct {
  JBLOCK *memory;
  size_t capacity;  // Blocks.
  size_t used;
  cjpeg_array *arrays;
  JMETHOD(void, realize, (j_common_ptr codec));  // The memory manager's function, for arrays of samples.
} cjpeg_coefficients;

/// `request_virt_barray`: all arrays are cleared before use, whether requested or not.
static inline jvirt_barray_ptr cjpeg_request_array(
    j_common_ptr codec, int pool, boolean clear, JDIMENSION columns, JDIMENSION count, JDIMENSION access) {
  (void)clear;
  (void)access;
  cjpeg_coefficients *coefficients = codec->client_data;
  cjpeg_array *array = codec->mem->alloc_small(codec, pool, sizeof *array);
  *array = (cjpeg_array){.next = coefficients->arrays, .columns = columns, .count = count};
  coefficients->arrays = array;
  return (jvirt_barray_ptr)array;
}

/// `realize_virt_arrays`.
static inline void cjpeg_realize_arrays(j_common_ptr codec) {
  cjpeg_coefficients *coefficients = codec->client_data;
  for (cjpeg_array *array = coefficients->arrays; array != NULL; array = array->next) {
    if (array->rows != NULL) continue;
    size_t blocks = (size_t)array->columns * array->count;
    if (blocks > coefficients->capacity - coefficients->used) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    array->rows = codec->mem->alloc_large(codec, JPOOL_IMAGE, array->count * sizeof *array->rows);
    for (JDIMENSION row = 0; row < array->count; row++) {
      array->rows[row] = coefficients->memory + coefficients->used + (size_t)row * array->columns;
    }
    coefficients->used += blocks;
  }
  coefficients->realize(codec);
}

/// `access_virt_barray`: rows are cleared when they are first accessed, so that a small file with a large picture
/// size costs little.
static inline JBLOCKARRAY cjpeg_access_array(
    j_common_ptr codec, jvirt_barray_ptr pointer, JDIMENSION row, JDIMENSION count, boolean writable) {
  (void)writable;
  cjpeg_array *array = (cjpeg_array *)pointer;
  if (array->rows == NULL || row > array->count || count > array->count - row) {
    ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
  }
  if (row + count > array->defined) {
    size_t blocks = (size_t)(row + count - array->defined) * array->columns;
    memset(array->rows[array->defined], 0, blocks * sizeof(JBLOCK));
    array->defined = row + count;
  }
  return array->rows + row;
}

/// Makes a decompressor use memory that the caller provides before decompression starts.
static inline void cjpeg_set_coefficients(j_decompress_ptr codec, cjpeg_coefficients *coefficients) {
  codec->client_data = coefficients;
  coefficients->realize = codec->mem->realize_virt_arrays;
  codec->mem->request_virt_barray = cjpeg_request_array;
  codec->mem->realize_virt_arrays = cjpeg_realize_arrays;
  codec->mem->access_virt_barray = cjpeg_access_array;
}
