#pragma once
#include <stddef.h>
#include <stdint.h>

// Decodes the primary picture of an AVIF, HEIC or HEIF file with libheif, which is loaded on demand (`dlopen(3)`): the program
// starts without it, and where it is missing only these formats are not read.

/// Loads libheif, once. Returns 1 if it is there. Not thread-safe: the first call must be over before another begins.
int cheif_load(void);

/// The version of libheif that this was built with, as `1.15.1`; empty when it was built without.
const char *cheif_version(void);

/// Why decoding failed.
enum cheif_failure {
  CHEIF_OK = 0,
  CHEIF_NO_MEMORY,
  /// The system failed to read; `errno` has the reason.
  CHEIF_IO,
  /// The file contradicts itself, or its compressed data are damaged.
  CHEIF_INVALID,
  /// libheif, or the decoder of the compressed data, does not know what the file is made of.
  CHEIF_UNSUPPORTED,
};

typedef struct cheif_picture cheif_picture;

/// Decodes the primary picture, with its transformations.
/// - `descriptor`: a seekable file, which is read from its beginning and not closed.
/// - `size`: its size in bytes.
/// - `max_pixels`: the most pixels of a coded picture in it.
/// - `min_width`, `min_height`: the least that each has. libheif would leave a part of a grid as it is in memory otherwise.
/// - `bits`: the bits of a sample in each coded picture. Rows have 16 bits per sample if these are more than 8.
/// - Returns: NULL when it failed, with the reason in `failure`.
cheif_picture *cheif_decode(
  int descriptor, int64_t size, int64_t max_pixels, int min_width, int min_height, int bits, enum cheif_failure *failure);

int cheif_width(const cheif_picture *picture);
int cheif_height(const cheif_picture *picture);

/// Converts a row to red, green, blue and alpha of 8 or 16 bits, colours not multiplied by alpha. A sample of fewer than 16
/// bits is scaled to the whole range.
void cheif_copy_row(const cheif_picture *picture, int row, void *pixels);

void cheif_close(cheif_picture *picture);
