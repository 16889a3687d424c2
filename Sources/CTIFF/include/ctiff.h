#pragma once
#include <stddef.h>
#include <stdint.h>

// Decodes strips and tiles of TIFF with libtiff, which is loaded on demand (`dlopen(3)`): the program starts without it, and where
// it is missing only TIFF is not read.

/// Loads libtiff, once. Returns 1 if it is there. Not thread-safe: the first call must be over before another begins.
int ctiff_load(void);

/// The version of libtiff that this was built with, as `4.5.0`; empty when it was built without.
const char *ctiff_version(void);

/// Why decoding failed.
enum ctiff_failure {
  CTIFF_OK = 0,
  CTIFF_NO_MEMORY,
  /// The system failed to read; `errno` has the reason.
  CTIFF_IO,
  /// The compressed data are damaged.
  CTIFF_INVALID,
  /// libtiff was built without what the data are compressed with.
  CTIFF_UNSUPPORTED,
};

/// A file that is made of a header and another file: libtiff never sees a field that it does not need.
struct ctiff_source {
  /// The file header and one directory. Offsets in it count from its first byte.
  const uint8_t *header;
  int64_t header_size;
  /// A seekable file, which follows the header and is not closed, and its size in bytes.
  int descriptor;
  int64_t size;
  /// The most bytes of an allocation.
  int64_t max_allocation;
  /// What a row, or a tile, has when it is decoded.
  int64_t row_size, tile_size;
  /// Whether pixels of YCbCr in JPEG become RGB.
  int converts_jpeg;
};

typedef struct ctiff_reader ctiff_reader;

/// Opens a file.
/// - `source`: copied; its header must stay.
/// - Returns: NULL when it failed, with the reason in `failure`.
ctiff_reader *ctiff_open(const struct ctiff_source *source, enum ctiff_failure *failure);

/// Decodes a row of a file of strips. Rows must be read in order.
enum ctiff_failure ctiff_read_row(ctiff_reader *reader, uint32_t row, void *bytes);

/// Decodes a strip or a tile.
/// - `size`: the bytes that it has when it is decoded.
enum ctiff_failure ctiff_read_strip(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size);
enum ctiff_failure ctiff_read_tile(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size);

void ctiff_close(ctiff_reader *reader);
