#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
#include "cjpeg_coefficients.h"
#include "cjpeg_stream.h"

// libjpeg reports an error by calling `error_exit`, which must not return and therefore calls longjmp. A longjmp
// across a Swift frame is undefined behaviour, so every call that can fail goes through a wrapper here that calls
// setjmp itself and returns 1 on success and 0 on failure. The wrappers are never inlined: a function with a setjmp
// must not be merged with its caller.
#define CJPEG_WRAPPER static inline __attribute__((noinline, unused)) int
#define CJPEG_ATTEMPT(codec) \
  if (setjmp(((cjpeg_failure *)(codec)->err)->escape)) return 0

/// A codec's error manager and its last error.
typedef struct {
  struct jpeg_error_mgr manager;  // First: libjpeg knows only this part.
  jmp_buf escape;
  int code;          // J_MESSAGE_CODE
  int system_error;  // errno at the time; valid when reading or writing failed.
  char message[JMSG_LENGTH_MAX];
  int cancelled;                  // 1 when the caller ended the compression.
  int in_header;                  // 1 while the header is read.
  char warning[JMSG_LENGTH_MAX];  // The first warning about bytes between the header's segments; empty without one.
  int accepts_damage;             // 1 when damaged pixels are no error.
  size_t damages;                 // The number of warnings about damaged pixels, or a missing end.
  int damage_code;                // The J_MESSAGE_CODE of the first.
  char damage[JMSG_LENGTH_MAX];   // The first of them; empty without one.
  int damaged_scan;               // The scan of that warning, from 1.
  unsigned int damaged_row;       // The row of MCUs in it, from 0.
} cjpeg_failure;

/// Replaces `error_exit`, which would exit the process: stores the error and leaves the library.
static inline void cjpeg_escape(j_common_ptr codec) {
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  failure->system_error = errno;
  failure->code = failure->manager.msg_code;
  failure->manager.format_message(codec, failure->message);
  longjmp(failure->escape, 1);
}

/// Stores the first warning about damaged pixels or a missing end, or makes it an error. It is always one when the data end within
/// the first row of MCUs, as nothing would be left of the picture; that of a file that was cut off if it ends there too.
static inline void cjpeg_damage(j_common_ptr codec) {
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  if (!failure->accepts_damage || failure->in_header || !codec->is_decompressor) cjpeg_escape(codec);
  j_decompress_ptr picture = (j_decompress_ptr)codec;
  int is_restart = picture->unread_marker >= JPEG_RST0 && picture->unread_marker <= JPEG_RST0 + 7;
  if (codec->err->msg_code == JWRN_HIT_MARKER && !is_restart && !cjpeg_has_row(picture)) {
    if (((cjpeg_source *)picture->src)->ended) ERREXIT(codec, JERR_INPUT_EOF);
    cjpeg_escape(codec);
  }
  if (failure->damages++ > 0) return;
  failure->damage_code = codec->err->msg_code;
  failure->manager.format_message(codec, failure->damage);
  failure->damaged_scan = picture->input_scan_number;
  failure->damaged_row = picture->input_iMCU_row;
}

/// Replaces `emit_message`, which would print: warnings mean damaged data, except for three about unusual headers, and for that
/// about bytes between the header's segments, which is stored. Trace messages (level 0 and above) are dropped.
static inline void cjpeg_emit(j_common_ptr codec, int level) {
  if (level >= 0) return;
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  switch (codec->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
      if (!failure->in_header) {
        cjpeg_damage(codec);
        return;
      }
      if (failure->warning[0] == 0) failure->manager.format_message(codec, failure->warning);
      return;
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_NOT_SEQUENTIAL:
      return;
    default:
      cjpeg_damage(codec);
  }
}

/// Creates a decompressor that reads a file: `jpeg_create_decompress` is a macro.
CJPEG_WRAPPER cjpeg_open_source(
    j_decompress_ptr codec, cjpeg_failure *failure, cjpeg_source *source, cjpeg_coefficients *coefficients) {
  codec->err = jpeg_std_error(&failure->manager);
  failure->manager.error_exit = cjpeg_escape;
  failure->manager.emit_message = cjpeg_emit;
  CJPEG_ATTEMPT(codec);
  jpeg_create_decompress(codec);
  cjpeg_set_source(codec, source);
  cjpeg_set_coefficients(codec, coefficients);
  return 1;
}

/// `jpeg_read_header` with errors contained.
CJPEG_WRAPPER cjpeg_read_header(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  failure->in_header = 1;
  int result = jpeg_read_header(codec, TRUE);
  failure->in_header = 0;
  ((cjpeg_source *)codec->src)->damages = &failure->damages;
  ((cjpeg_source *)codec->src)->accepts_end = failure->accepts_damage;
  return result == JPEG_HEADER_OK;
}

/// `jpeg_start_decompress` with errors contained.
CJPEG_WRAPPER cjpeg_start_decompress(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  return jpeg_start_decompress(codec);
}

/// `jpeg_consume_input` with errors contained: reads one row of blocks of one scan. `state` is set to
/// `JPEG_REACHED_EOI` or another of its values.
CJPEG_WRAPPER cjpeg_consume_input(j_decompress_ptr codec, int *state) {
  CJPEG_ATTEMPT(codec);
  *state = jpeg_consume_input(codec);
  return 1;
}

/// Whether an error came from the end of the file between two scans, where `cjpeg_accept_end` put the end of the picture into a
/// marker's segment: the scans before are complete.
static inline boolean cjpeg_ends_between_scans(j_decompress_ptr codec) {
  return ((cjpeg_source *)codec->src)->ended && codec->input_iMCU_row == codec->total_iMCU_rows;
}

/// `jpeg_start_output` with errors contained: starts decoding a picture with several scans after all were consumed.
CJPEG_WRAPPER cjpeg_start_output(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  return jpeg_start_output(codec, codec->input_scan_number);
}

/// `jpeg_read_scanlines` with errors contained, for one row, so that Swift needs no array of pointers.
CJPEG_WRAPPER cjpeg_read_row(j_decompress_ptr codec, void *row) {
  CJPEG_ATTEMPT(codec);
  JSAMPROW rows[1] = {row};
  return jpeg_read_scanlines(codec, rows, 1) == 1;
}

/// `jpeg_read_raw_data` with errors contained: one row of the largest blocks, `lines` rows of the component
/// with the highest resolution.
CJPEG_WRAPPER cjpeg_read_planes(j_decompress_ptr codec, JSAMPIMAGE planes, unsigned int lines) {
  CJPEG_ATTEMPT(codec);
  return jpeg_read_raw_data(codec, planes, lines) == lines;
}

/// `jpeg_finish_decompress` with errors contained: reads to the end of the picture, so that a missing end is an
/// error.
CJPEG_WRAPPER cjpeg_finish_decompress(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  if (codec->buffered_image && !jpeg_finish_output(codec)) return 0;
  return jpeg_finish_decompress(codec);
}

/// Creates a compressor that writes a file: `jpeg_create_compress` is a macro.
CJPEG_WRAPPER cjpeg_open_destination(
    j_compress_ptr codec, cjpeg_failure *failure, cjpeg_destination *destination) {
  codec->err = jpeg_std_error(&failure->manager);
  failure->manager.error_exit = cjpeg_escape;
  failure->manager.emit_message = cjpeg_emit;
  CJPEG_ATTEMPT(codec);
  jpeg_create_compress(codec);
  cjpeg_set_destination(codec, destination);
  return 1;
}

/// `jpeg_set_defaults` and `jpeg_set_quality` with errors contained. The caller sets size, components and colour
/// space of the input before. `horizontal` and `vertical` are the sampling factors of luma. `planes` selects raw
/// data: separate, already subsampled components.
CJPEG_WRAPPER cjpeg_prepare_compress(j_compress_ptr codec, int quality, int horizontal, int vertical, int planes) {
  CJPEG_ATTEMPT(codec);
  jpeg_set_defaults(codec);
  codec->raw_data_in = planes;
  // The same choice as in the TurboJPEG API.
  codec->dct_method = quality < 96 ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_set_quality(codec, quality, TRUE);
  codec->comp_info[0].h_samp_factor = horizontal;
  codec->comp_info[0].v_samp_factor = vertical;
  return 1;
}

/// `jpeg_simple_progression` with errors contained, after `cjpeg_prepare_compress`.
CJPEG_WRAPPER cjpeg_make_progressive(j_compress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  jpeg_simple_progression(codec);
  return 1;
}

/// `jpeg_start_compress` with errors contained.
CJPEG_WRAPPER cjpeg_start_compress(j_compress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  jpeg_start_compress(codec, TRUE);
  return 1;
}

/// `jpeg_write_marker` with errors contained.
CJPEG_WRAPPER cjpeg_write_marker(j_compress_ptr codec, int marker, const void *bytes, unsigned int count) {
  CJPEG_ATTEMPT(codec);
  jpeg_write_marker(codec, marker, bytes, count);
  return 1;
}

/// `jpeg_write_scanlines` with errors contained, for one row.
CJPEG_WRAPPER cjpeg_write_row(j_compress_ptr codec, const void *row) {
  CJPEG_ATTEMPT(codec);
  JSAMPROW rows[1] = {(JSAMPROW)row};
  return jpeg_write_scanlines(codec, rows, 1) == 1;
}

/// `jpeg_write_raw_data` with errors contained: one row of the largest blocks, `lines` rows of the component
/// with the highest resolution.
CJPEG_WRAPPER cjpeg_write_planes(j_compress_ptr codec, JSAMPIMAGE planes, unsigned int lines) {
  CJPEG_ATTEMPT(codec);
  return jpeg_write_raw_data(codec, planes, lines) == lines;
}

/// Asks the caller whether to go on with a compression.
typedef struct {
  struct jpeg_progress_mgr manager;  // First: libjpeg knows only this part.
  int (*is_cancelled)(void *context);
  void *context;
} cjpeg_progress;

/// Called by libjpeg for each row of blocks of a pass over the coefficients.
static inline void cjpeg_check(j_common_ptr codec) {
  cjpeg_progress *progress = (cjpeg_progress *)codec->progress;
  if (!progress->is_cancelled(progress->context)) return;
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  failure->cancelled = 1;
  longjmp(failure->escape, 1);
}

/// `jpeg_finish_compress` with errors contained: codes the coefficients when that takes several passes over them.
CJPEG_WRAPPER cjpeg_finish_compress(j_compress_ptr codec, cjpeg_progress *progress) {
  CJPEG_ATTEMPT(codec);
  progress->manager.progress_monitor = cjpeg_check;
  codec->progress = &progress->manager;
  jpeg_finish_compress(codec);
  return 1;
}
