#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <zlib.h>
#include "cpng_stored.h"

// libpng reports an error by calling a function that must not return and therefore calls longjmp. A longjmp across a
// Swift frame is undefined behaviour, so every call that can fail goes through a wrapper here that calls setjmp
// itself and returns 1 on success and 0 on failure. The wrappers are never inlined: a function with a setjmp must not
// be merged with its caller.
#define CPNG_WRAPPER static inline __attribute__((noinline, unused)) int
#define CPNG_ATTEMPT(codec) \
  if (setjmp(((cpng_stream *)png_get_error_ptr(codec))->escape)) return 0

/// The stream that a codec reads or writes, and its last error.
typedef struct {
  jmp_buf escape;
  FILE *file;
  int ended;         // 1 when the file ended too early.
  int system_error;  // errno when reading or writing failed, else 0.
  int lacks_memory;  // 1 when the system had no memory for libpng the last time.
  char message[128];
  char warning[128];  // The first warning about a wrong checksum, or about one of a chunk on which more depends; empty without one.
  unsigned frames;    // Of an animation, as its chunk before the pixels says; 0 without one.
  int damage;         // What depends on that chunk, as `cpng_damage` says; 0 without one.
  int accepts_damage;  // 1 when damaged pixels are no error.
  long long size;      // Of a file with damaged pixels that are no error.
  int ignores_sum;     // 1 when the checksum of all pixels is not compared (RFC 1950 § 2.2).
  size_t length;       // Of the contents of the chunk that is being read.
  cpng_stored stored;  // What libpng reads instead of the chunks of pixels.
} cpng_stream;

/// The error function: stores the message and leaves the library.
static inline void cpng_escape(png_structp codec, png_const_charp message) {
  cpng_stream *stream = png_get_error_ptr(codec);
  strncpy(stream->message, message, sizeof stream->message - 1);
  longjmp(stream->escape, 1);
}

/// Allocates memory, for libpng and zlib: unlike libpng's function it stores whether there was none the last time.
static inline png_voidp cpng_allocate(png_structp codec, png_alloc_size_t count) {
  void *memory = malloc(count);
  ((cpng_stream *)png_get_mem_ptr(codec))->lacks_memory = memory == NULL;
  return memory;
}

static inline void cpng_free(png_structp codec, png_voidp memory) {
  (void)codec;
  free(memory);
}

/// The warning function of writers: ignores warnings.
static inline void cpng_ignore(png_structp codec, png_const_charp message) {
  (void)codec;
  (void)message;
}

/// Whether `names`, of four letters each, has a name.
static inline int cpng_has(const char *names, const void *name) {
  for (; *names != 0; names += 4) {
    if (memcmp(names, name, 4) == 0) return 1;
  }
  return 0;
}

/// What depends on a chunk of this name, which may have a wrong checksum: 1, nothing that can be seen; 2, the colours, the
/// orientation or the animation; 0, the pixels, or the chunk is not known. The name of such a one may be what is wrong, and the
/// chunk be of those that make up the picture. Nothing depends on the last chunk, which is empty.
static inline int cpng_damage(const void *name) {
  if (cpng_has("acTLcHRMcICPcLLIcLLieXIffcTLfdATgAMAiCCPmDCVmDCvsRGB", name)) return 2;
  return cpng_has("IENDbKGDdSIGgIFggIFxhISTiTXtoFFspCALpHYssBITsCALsPLTsTERtEXttIMEzTXt", name);
}

/// The warning function of readers: stores the first about a wrong checksum of those on which most depends, or makes it an
/// error when the pixels depend on it, unless these may be damaged; in the size and the palette it always is one. Others are
/// harmless, as `cpng_open_reader` turns those about pixels into errors.
static inline void cpng_warn(png_structp codec, png_const_charp message) {
  if (strstr(message, "CRC error") == NULL) return;
  cpng_stream *stream = png_get_error_ptr(codec);
  int damage = strlen(message) < 4 ? 0 : cpng_damage(message);
  if (damage == 0) {
    if (!stream->accepts_damage || strlen(message) < 4 || cpng_has("IHDRPLTE", message)) cpng_escape(codec, message);
    damage = 3;
  }
  if (damage <= stream->damage) return;
  stream->damage = damage;
  strncpy(stream->warning, message, sizeof stream->warning - 1);
}

/// Makes a chunk of pixels that goes beyond the end of the file as long as what is left: libpng decodes no byte of a buffer that
/// it cannot fill.
static inline void cpng_shorten(cpng_stream *stream, png_bytep header) {
  long long offset = ftello(stream->file);
  if (memcmp(header + 4, "IDAT", 4) != 0 || offset < 0 || offset > stream->size) return;
  long long left = stream->size - offset;
  if (png_get_uint_32(header) > left) png_save_uint_32(header, (png_uint_32)left);
}

/// Makes a wrong checksum a warning, which `cpng_warn` makes an error where pixels depend on it.
static inline void cpng_check_checksums(png_structp codec) { png_set_crc_action(codec, PNG_CRC_WARN_USE, PNG_CRC_WARN_USE); }

/// Reads from the rows that are inflated already: the rest of the chunk that libpng has begun, and one with all others, whose
/// checksums libpng has been told to ignore. Returns 0 behind them.
static inline int cpng_read_stored(png_structp codec, cpng_stream *stream, png_bytep bytes, size_t count) {
  cpng_stored *stored = &stream->stored;
  size_t left = stored->count - stored->served;
  switch (png_get_io_state(codec) & PNG_IO_MASK_LOC) {
    case PNG_IO_CHUNK_DATA:
      memcpy(bytes, stored->bytes + stored->served, count);
      stored->served += count;
      return 1;
    case PNG_IO_CHUNK_CRC: memset(bytes, 0, count); return 1;
    default:
      if (left == 0) {
        cpng_free_stored(stored);
        cpng_check_checksums(codec);
        return 0;
      }
      png_save_uint_32(bytes, (png_uint_32)left);
      memcpy(bytes + 4, "IDAT", 4);
      return 1;
  }
}

/// Reads from the stream; unlike libpng's function it distinguishes the end of the file from a failure of the system.
static inline void cpng_read(png_structp codec, png_bytep bytes, size_t count) {
  cpng_stream *stream = png_get_io_ptr(codec);
  if (stream->stored.bytes != NULL && cpng_read_stored(codec, stream, bytes, count)) return;
  if (fread(bytes, 1, count, stream->file) == count) {
    if (count == 8 && (png_get_io_state(codec) & PNG_IO_MASK_LOC) == PNG_IO_CHUNK_HDR) {
      if (stream->accepts_damage) cpng_shorten(stream, bytes);
      stream->length = png_get_uint_32(bytes);
    }
    return;
  }
  if (ferror(stream->file)) {
    stream->system_error = errno;
  } else {
    stream->ended = 1;
  }
  png_error(codec, "the file ends too early");
}

/// Writes to the stream; unlike libpng's function it stores errno.
static inline void cpng_write(png_structp codec, png_bytep bytes, size_t count) {
  cpng_stream *stream = png_get_io_ptr(codec);
  if (fwrite(bytes, 1, count, stream->file) == count) return;
  stream->system_error = errno;
  png_error(codec, "the file cannot be written");
}

/// Replaces libpng's flush after the last chunk; the stream's owner flushes.
static inline void cpng_flush(png_structp codec) { (void)codec; }

/// Creates a reader. libpng interprets only the chunks that make up the picture (IHDR, PLTE, tRNS, IDAT, IEND); every
/// warning and every wrong checksum of these but IEND is an error (of pixels unless `stream` accepts damage), and so is a wrong
/// checksum of a chunk that is not known. All other chunks are passed to `chunk` unchanged, so that libpng neither checks
/// colour profiles nor inflates text. `side` limits width and height, `memory` the length of a chunk other than IDAT.
CPNG_WRAPPER cpng_open_reader(
    cpng_stream *stream, png_structp *codec, png_infop *info, unsigned int side, size_t memory, void *context,
    png_user_chunk_ptr chunk) {
  *codec = NULL;
  *info = NULL;
  if (setjmp(stream->escape)) return 0;
  *codec = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, stream, cpng_escape, cpng_warn, stream, cpng_allocate, cpng_free);
  if (*codec == NULL) return 0;
  *info = png_create_info_struct(*codec);
  if (*info == NULL) return 0;
  png_set_read_fn(*codec, stream, cpng_read);
  png_set_user_limits(*codec, side, side);
  png_set_chunk_malloc_max(*codec, memory);
  png_set_chunk_cache_max(*codec, 128);
  png_set_benign_errors(*codec, 0);
  cpng_check_checksums(*codec);
  png_set_keep_unknown_chunks(*codec, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_read_user_chunk_fn(*codec, context, chunk);
#ifdef PNG_IGNORE_ADLER32
  if (stream->ignores_sum) png_set_option(*codec, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  return 1;
}

/// `png_read_info` with errors contained.
CPNG_WRAPPER cpng_read_info(png_structp codec, png_infop info) {
  CPNG_ATTEMPT(codec);
  png_read_info(codec, info);
  return 1;
}

/// Inflates the pixels of a picture that is not interlaced and has at most `limit` bytes of rows, if there is no error in them;
/// else libpng reads them from the file.
static inline void cpng_inflate_rows(png_structp codec, png_infop info, size_t limit) {
  cpng_stream *stream = png_get_io_ptr(codec);
  size_t count = (png_get_rowbytes(codec, info) + 1) * png_get_image_height(codec, info);
  if (png_get_interlace_type(codec, info) != PNG_INTERLACE_NONE || count > limit) return;
  long long start = ftello(stream->file);
  if (start >= 0 && cpng_open_stored(&stream->stored, stream->file, stream->length, count)) {
    png_set_crc_action(codec, PNG_CRC_QUIET_USE, PNG_CRC_WARN_USE);
    png_set_option(codec, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    return;
  }
  clearerr(stream->file);
  if (start < 0 || fseeko(stream->file, start, SEEK_SET) != 0) {
    stream->system_error = errno;
    png_error(codec, "the file cannot be read");
  }
}

/// Requests rows of 1, 2 or 4 samples per pixel in the machine's byte order and starts the picture; each of these
/// calls can fail. `colour` converts grey to colour; colour without alpha gets a filler. `passes` is set to 7 for an
/// interlaced picture, else to 1. `limit` is the most bytes of rows that may be in memory.
CPNG_WRAPPER cpng_start_read(png_structp codec, png_infop info, int colour, size_t limit, int *passes) {
  CPNG_ATTEMPT(codec);
  cpng_inflate_rows(codec, info, limit);
  png_set_expand(codec);
  if (colour) png_set_gray_to_rgb(codec);
  int grey = !colour && !(png_get_color_type(codec, info) & PNG_COLOR_MASK_COLOR);
  int alpha = (png_get_color_type(codec, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(codec, info, PNG_INFO_tRNS);
  if (!grey && !alpha) png_set_filler(codec, 0xFFFF, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (png_get_bit_depth(codec, info) == 16) png_set_swap(codec);
#endif
  *passes = png_set_interlace_handling(codec);
  png_read_update_info(codec, info);
  return 1;
}

/// `png_read_row` with errors contained.
CPNG_WRAPPER cpng_read_row(png_structp codec, void *row) {
  CPNG_ATTEMPT(codec);
  png_read_row(codec, row, NULL);
  return 1;
}

/// `png_read_row` of a pass with errors contained: the pixels of later passes become those of the nearest of this one.
CPNG_WRAPPER cpng_fill_row(png_structp codec, void *row) {
  CPNG_ATTEMPT(codec);
  png_read_row(codec, NULL, row);
  return 1;
}

/// `png_read_end` with errors contained: reads to the last chunk, so that a missing end is an error.
CPNG_WRAPPER cpng_read_end(png_structp codec) {
  CPNG_ATTEMPT(codec);
  png_read_end(codec, NULL);
  return 1;
}

/// Creates a writer. `level` is zlib's, `filters` a set of `PNG_FILTER_…`.
CPNG_WRAPPER cpng_open_writer(cpng_stream *stream, png_structp *codec, png_infop *info, int level, int filters) {
  *codec = NULL;
  *info = NULL;
  if (setjmp(stream->escape)) return 0;
  *codec = png_create_write_struct_2(
      PNG_LIBPNG_VER_STRING, stream, cpng_escape, cpng_ignore, stream, cpng_allocate, cpng_free);
  if (*codec == NULL) return 0;
  *info = png_create_info_struct(*codec);
  if (*info == NULL) return 0;
  png_set_write_fn(*codec, stream, cpng_write, cpng_flush);
  png_set_compression_level(*codec, level);
  png_set_compression_buffer_size(*codec, 65536);
  png_set_filter(*codec, PNG_FILTER_TYPE_BASE, filters);
  return 1;
}

/// Starts the file of a picture that is not interlaced. Chunks of metadata and a palette follow.
CPNG_WRAPPER cpng_write_header(
    png_structp codec, png_infop info, unsigned int width, unsigned int height, int depth, int colour_type) {
  CPNG_ATTEMPT(codec);
  png_set_user_limits(codec, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(
      codec, info, width, height, depth, colour_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
      PNG_FILTER_TYPE_BASE);
  png_write_info_before_PLTE(codec, info);
  return 1;
}

/// `png_write_chunk` with errors contained. `name` has four letters.
CPNG_WRAPPER cpng_write_chunk(png_structp codec, const void *name, const void *bytes, size_t count) {
  CPNG_ATTEMPT(codec);
  png_write_chunk(codec, name, bytes, count);
  return 1;
}

/// Sets the palette of `count` colours, of red, green, blue and alpha each; those that are not opaque come first.
CPNG_WRAPPER cpng_set_palette(png_structp codec, png_infop info, const unsigned char *colours, int count) {
  CPNG_ATTEMPT(codec);
  png_color palette[PNG_MAX_PALETTE_LENGTH];
  png_byte alpha[PNG_MAX_PALETTE_LENGTH];
  int transparent = 0;
  for (int i = 0; i < count && i < PNG_MAX_PALETTE_LENGTH; i++) {
    palette[i] = (png_color){colours[4 * i], colours[4 * i + 1], colours[4 * i + 2]};
    alpha[i] = colours[4 * i + 3];
    if (alpha[i] < 255) transparent = i + 1;
  }
  png_set_PLTE(codec, info, palette, count);
  if (transparent > 0) png_set_tRNS(codec, info, alpha, transparent, NULL);
  return 1;
}

/// Writes the palette, if there is one, and requests rows in the machine's byte order, or of an index in each byte. `filler`
/// means that colour pixels without alpha have a filler in its place.
CPNG_WRAPPER cpng_start_write(png_structp codec, png_infop info, int depth, int filler) {
  CPNG_ATTEMPT(codec);
  png_write_info(codec, info);
  png_set_packing(codec);
  if (filler) png_set_filler(codec, 0, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (depth == 16) png_set_swap(codec);
#endif
  return 1;
}

/// `png_write_row` with errors contained.
CPNG_WRAPPER cpng_write_row(png_structp codec, const void *row) {
  CPNG_ATTEMPT(codec);
  png_write_row(codec, row);
  return 1;
}

/// `png_write_end` with errors contained.
CPNG_WRAPPER cpng_write_end(png_structp codec, png_infop info) {
  CPNG_ATTEMPT(codec);
  png_write_end(codec, info);
  return 1;
}
