#pragma once
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#include <jpeglib.h>
#include <jerror.h>

// libjpeg's own streams (`jpeg_stdio_src`, `jpeg_stdio_dest`) have buffers of 4 KiB. Its decoder uses the slow path
// for Huffman codes when fewer than 512 bytes per block of an MCU are buffered, 3 KiB for 4:2:0: three quarters of
// the time.

/// A file to read from, by pread(2), and the buffer for it. The caller owns both.
typedef struct {
  struct jpeg_source_mgr manager;  // First: libjpeg knows only this part.
  int descriptor;
  off_t offset;  // Of the bytes after the buffer.
  JOCTET *buffer;
  size_t capacity;
  int accepts_end;        // 1 when the file may end after a row of MCUs, with a warning.
  int ended;              // 1 after that.
  const size_t *damages;  // The number of warnings about damage so far.
} cjpeg_source;

/// A file to write to, by write(2) at its offset, and the buffer for it. The caller owns both. Without a file, which a negative
/// descriptor means, the buffer is where the picture is written, and one that does not fit is an error.
typedef struct {
  struct jpeg_destination_mgr manager;  // First: libjpeg knows only this part.
  int descriptor;
  JOCTET *buffer;
  size_t capacity;
} cjpeg_destination;

/// `init_source`: nothing to do.
static inline void cjpeg_begin_source(j_decompress_ptr codec) { (void)codec; }

/// Whether a row of MCUs is complete.
static inline boolean cjpeg_has_row(j_decompress_ptr codec) {
  return codec->input_scan_number > 1 || codec->input_iMCU_row > 0;
}

/// Whether the file may end before a row of MCUs is complete. The decoder, which reads ahead, meets the end of a picture of one
/// row before that row is complete; `cjpeg_damage` ends it if a bit is missing, of which the decoder of arithmetic codes does
/// not warn, nor does that of Huffman codes after other damage.
static inline boolean cjpeg_may_end_within_row(j_decompress_ptr codec) {
  return codec->total_iMCU_rows == 1 && !codec->arith_code && *((cjpeg_source *)codec->src)->damages == 0;
}

/// Continues after the end of the file as if the picture ended there: libjpeg fills the rest. The end is an error before the
/// first row of MCUs is complete.
static inline boolean cjpeg_accept_end(j_decompress_ptr codec) {
  cjpeg_source *source = (cjpeg_source *)codec->src;
  if (!source->accepts_end || !(cjpeg_has_row(codec) || cjpeg_may_end_within_row(codec))) ERREXIT(codec, JERR_INPUT_EOF);
  source->ended = 1;
  WARNMS(codec, JWRN_JPEG_EOF);
  source->buffer[0] = 0xFF;
  source->buffer[1] = JPEG_EOI;
  source->manager.next_input_byte = source->buffer;
  source->manager.bytes_in_buffer = 2;
  return TRUE;
}

/// `fill_input_buffer`: the end of the file is an error, or accepted.
static inline boolean cjpeg_fill(j_decompress_ptr codec) {
  cjpeg_source *source = (cjpeg_source *)codec->src;
  ssize_t count;
  do {
    count = pread(source->descriptor, source->buffer, source->capacity, source->offset);
  } while (count < 0 && errno == EINTR);
  if (count < 0) ERREXIT(codec, JERR_FILE_READ);
  if (count == 0) return cjpeg_accept_end(codec);
  source->offset += count;
  source->manager.next_input_byte = source->buffer;
  source->manager.bytes_in_buffer = (size_t)count;
  return TRUE;
}

/// `skip_input_data`.
static inline void cjpeg_skip(j_decompress_ptr codec, long count) {
  cjpeg_source *source = (cjpeg_source *)codec->src;
  if (count <= 0) return;
  size_t skipped = (size_t)count, held = source->manager.bytes_in_buffer;
  if (skipped > held) {
    source->offset += (off_t)(skipped - held);
    skipped = held;
  }
  source->manager.next_input_byte += skipped;
  source->manager.bytes_in_buffer -= skipped;
}

/// `term_source`: the caller closes the file.
static inline void cjpeg_end_source(j_decompress_ptr codec) { (void)codec; }

static inline void cjpeg_set_source(j_decompress_ptr codec, cjpeg_source *source) {
  source->manager = (struct jpeg_source_mgr){
      .init_source = cjpeg_begin_source,
      .fill_input_buffer = cjpeg_fill,
      .skip_input_data = cjpeg_skip,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = cjpeg_end_source,
  };
  codec->src = &source->manager;
}

/// `init_destination`: the whole buffer is free.
static inline void cjpeg_begin_destination(j_compress_ptr codec) {
  cjpeg_destination *destination = (cjpeg_destination *)codec->dest;
  destination->manager.next_output_byte = destination->buffer;
  destination->manager.free_in_buffer = destination->capacity;
}

static inline void cjpeg_write_out(j_compress_ptr codec, size_t count) {
  cjpeg_destination *destination = (cjpeg_destination *)codec->dest;
  for (size_t done = 0; done < count;) {
    ssize_t written = write(destination->descriptor, destination->buffer + done, count - done);
    if (written >= 0) {
      done += (size_t)written;
    } else if (errno != EINTR) {
      ERREXIT(codec, JERR_FILE_WRITE);
    }
  }
}

/// `empty_output_buffer`: called when the buffer is full, regardless of `free_in_buffer`.
static inline boolean cjpeg_empty(j_compress_ptr codec) {
  if (((cjpeg_destination *)codec->dest)->descriptor < 0) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
  cjpeg_write_out(codec, ((cjpeg_destination *)codec->dest)->capacity);
  cjpeg_begin_destination(codec);
  return TRUE;
}

/// `term_destination`: writes the rest. What is in the buffer of a destination without a file is the caller's.
static inline void cjpeg_end_destination(j_compress_ptr codec) {
  cjpeg_destination *destination = (cjpeg_destination *)codec->dest;
  if (destination->descriptor < 0) return;
  cjpeg_write_out(codec, destination->capacity - destination->manager.free_in_buffer);
}

static inline void cjpeg_set_destination(j_compress_ptr codec, cjpeg_destination *destination) {
  destination->manager = (struct jpeg_destination_mgr){
      .init_destination = cjpeg_begin_destination,
      .empty_output_buffer = cjpeg_empty,
      .term_destination = cjpeg_end_destination,
  };
  codec->dest = &destination->manager;
}
