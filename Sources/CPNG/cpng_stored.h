#pragma once
#include <libdeflate.h>
#include <stdlib.h>

// The pixels of a whole picture, inflated by libdeflate, which takes half of zlib's time. libpng reads the result as a zlib
// stream of stored blocks, of which its own inflating copies bytes. This is for files without any error: all others libpng reads
// as they are, with its own errors.

/// The rows of a picture with their filters, as a zlib stream of stored blocks, whose checksum, which libpng has been told to
/// ignore, is 0.
typedef struct {
  unsigned char *bytes;  // NULL when libpng reads the file.
  size_t count;
  size_t served;  // Bytes that libpng has read.
} cpng_stored;

enum {
  cpng_stream_head = 2,  // Bytes before the first block,
  cpng_block_head = 5,   // before the rows in each block,
  cpng_block_rows = 65535,
  cpng_stream_tail = 4,  // and behind the last block.
};

/// The bytes of the stream for `count` bytes of rows.
static inline size_t cpng_stored_size(size_t count) {
  size_t blocks = (count + cpng_block_rows - 1) / cpng_block_rows;
  return cpng_stream_head + blocks * cpng_block_head + count + cpng_stream_tail;
}

/// Saves the head of a stored block (RFC 1951, § 3.2.4).
static inline void cpng_save_block_head(unsigned char *head, size_t length, int is_last) {
  head[0] = (unsigned char)is_last;
  head[1] = length & 255;
  head[2] = (unsigned char)(length >> 8);
  head[3] = head[1] ^ 255;
  head[4] = head[2] ^ 255;
}

/// Reads the contents of all chunks of pixels, of which the first has `length` bytes, from after its header up to before the next
/// other chunk. Returns 0 when they have more than `capacity` bytes, a checksum is wrong, the file ends, or there are very many.
static inline int cpng_read_contents(
    FILE *file, size_t length, unsigned char *contents, size_t capacity, size_t *count) {
  enum { most_chunks = 10000 };
  unsigned char bytes[12];
  *count = 0;
  for (int chunks = 0; chunks < most_chunks; chunks++) {
    if (length > capacity - *count) return 0;
    if (fread(contents + *count, 1, length, file) != length || fread(bytes, 1, 12, file) != 12) return 0;
    uint32_t checksum = libdeflate_crc32(libdeflate_crc32(0, "IDAT", 4), contents + *count, length);
    if (png_get_uint_32(bytes) != checksum) return 0;
    *count += length;
    if (memcmp(bytes + 8, "IDAT", 4) != 0) return fseeko(file, -8, SEEK_CUR) == 0;
    length = png_get_uint_32(bytes + 4);
  }
  return 0;
}

/// Inflates contents that hold exactly `rows` bytes into stored blocks. libdeflate allows more than zlib where a window of less
/// than 32 KiB is announced, as for small pictures.
static inline int cpng_inflate(cpng_stored *stored, const unsigned char *contents, size_t count, size_t rows) {
  if (count == 0 || contents[0] != 0x78) return 0;
  struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
  if (decompressor == NULL) return 0;
  // The rows come to the end, and are moved block by block towards the beginning: each is behind its place.
  unsigned char *to = stored->bytes, *from = stored->bytes + stored->count - cpng_stream_tail - rows;
  size_t used, made;
  enum libdeflate_result result =
      libdeflate_zlib_decompress_ex(decompressor, contents, count, from, rows, &used, &made);
  libdeflate_free_decompressor(decompressor);
  if (result != LIBDEFLATE_SUCCESS || used != count || made != rows) return 0;
  memcpy(to, "\x78\1", cpng_stream_head);
  to += cpng_stream_head;
  while (rows > 0) {
    size_t length = rows < cpng_block_rows ? rows : cpng_block_rows;
    rows -= length;
    cpng_save_block_head(to, length, rows == 0);
    memmove(to + cpng_block_head, from, length);
    to += cpng_block_head + length;
    from += length;
  }
  memset(to, 0, cpng_stream_tail);
  return 1;
}

static inline void cpng_free_stored(cpng_stored *stored) {
  free(stored->bytes);
  stored->bytes = NULL;
}

/// Reads and inflates chunks of pixels that hold `rows` bytes, from after the header of the first, which has `length` bytes.
/// Returns 0 when there is any error.
static inline int cpng_open_stored(cpng_stored *stored, FILE *file, size_t length, size_t rows) {
  size_t filled;
  stored->count = cpng_stored_size(rows);
  stored->served = 0;
  stored->bytes = malloc(stored->count);
  unsigned char *contents = malloc(stored->count);
  int is_whole = stored->bytes != NULL && contents != NULL
    && cpng_read_contents(file, length, contents, stored->count, &filled) && cpng_inflate(stored, contents, filled, rows);
  free(contents);
  if (!is_whole) cpng_free_stored(stored);
  return is_whole;
}
