#pragma once
#include <stdint.h>
#include <stdio.h>

// Decodes one picture of a GIF with giflib, which is loaded on demand (`dlopen(3)`): the program starts without it, and where
// it is missing only GIF is not read.

/// Loads giflib, once. Returns 1 if it is there. Not thread-safe: the first call must be over before another begins.
int cgif_load(void);

/// The version of giflib that this was built with, as `5.2.1`.
const char *cgif_version(void);

/// Why reading failed.
enum cgif_failure {
  CGIF_OK = 0,
  CGIF_NO_MEMORY,
  /// The file ends within the picture.
  CGIF_TRUNCATED,
  /// The system failed to read; `errno` has the reason.
  CGIF_IO,
  /// The compressed data contradict themselves.
  CGIF_INVALID,
  /// The compressed data end before the picture does.
  CGIF_TOO_SHORT,
};

typedef struct cgif_reader cgif_reader;

/// Begins a picture. giflib is given its descriptor, and never reads a global colour table or an extension.
/// - `stream`: a file that is positioned at the picture's separator, and stays open.
/// - `size`: the size of the file in bytes when damage is accepted, otherwise -1. Then the data end where the file does.
/// - Returns: NULL when it failed, with the reason in `failure`.
cgif_reader *cgif_open(FILE *stream, long size, enum cgif_failure *failure);

/// Reads a row of colour indices. After the last row of the picture the stream is behind its data.
enum cgif_failure cgif_read_row(cgif_reader *reader, uint8_t *row, int width);

void cgif_close(cgif_reader *reader);
