#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
#include "cjpeg_coefficients.h"
#include "cjpeg_stream.h"

// libjpeg reports an error by calling `error_exit`, which must not return: all it can do is longjmp. A longjmp across
// a Swift frame is undefined, so every call that can fail goes through a wrapper here that does the setjmp itself and
// returns 1 when the call succeeded and 0 when it failed. The wrappers are never inlined: a function that holds a
// setjmp must not be merged with its caller.
#define CJPEG_WRAPPER static inline __attribute__((noinline, unused)) int
#define CJPEG_ATTEMPT(codec) \
  if (setjmp(((cjpeg_failure *)(codec)->err)->escape)) return 0

/// Where a codec's errors go, and the last of them.
typedef struct {
  struct jpeg_error_mgr manager;  // First: libjpeg knows only this part.
  jmp_buf escape;
  int code;          // J_MESSAGE_CODE
  int system_error;  // errno at the time; has a meaning when reading or writing failed.
  char message[JMSG_LENGTH_MAX];
} cjpeg_failure;

/// Replaces `error_exit`, which would end the process: keeps what happened and leaves the library.
static inline void cjpeg_escape(j_common_ptr codec) {
  cjpeg_failure *failure = (cjpeg_failure *)codec->err;
  failure->system_error = errno;
  failure->code = failure->manager.msg_code;
  failure->manager.format_message(codec, failure->message);
  longjmp(failure->escape, 1);
}

/// Replaces `emit_message`, which would print: a warning means damaged data and is an error, except for the three
/// that only say that a header is unusual. Trace messages (level 0 and above) are dropped.
static inline void cjpeg_emit(j_common_ptr codec, int level) {
  if (level >= 0) return;
  switch (codec->err->msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_NOT_SEQUENTIAL:
      return;
    default:
      cjpeg_escape(codec);
  }
}

/// Makes a decompressor that reads a file: `jpeg_create_decompress` is a macro.
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

/// `jpeg_read_header`, contained.
CJPEG_WRAPPER cjpeg_read_header(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  return jpeg_read_header(codec, TRUE) == JPEG_HEADER_OK;
}

/// `jpeg_start_decompress`, contained.
CJPEG_WRAPPER cjpeg_start_decompress(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  return jpeg_start_decompress(codec);
}

/// `jpeg_consume_input`, contained: one row of blocks of one scan. `state` becomes one of `JPEG_REACHED_EOI` and so on.
CJPEG_WRAPPER cjpeg_consume_input(j_decompress_ptr codec, int *state) {
  CJPEG_ATTEMPT(codec);
  *state = jpeg_consume_input(codec);
  return 1;
}

/// `jpeg_start_output`, contained: decoding of a picture of several scans after all of them were consumed.
CJPEG_WRAPPER cjpeg_start_output(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  return jpeg_start_output(codec, codec->input_scan_number);
}

/// `jpeg_read_scanlines`, contained, for one row: Swift cannot say `JSAMPARRAY` without an array of pointers.
CJPEG_WRAPPER cjpeg_read_row(j_decompress_ptr codec, void *row) {
  CJPEG_ATTEMPT(codec);
  JSAMPROW rows[1] = {row};
  return jpeg_read_scanlines(codec, rows, 1) == 1;
}

/// `jpeg_read_raw_data`, contained: one row of the largest blocks, `lines` rows of samples of the finest component.
CJPEG_WRAPPER cjpeg_read_planes(j_decompress_ptr codec, JSAMPIMAGE planes, unsigned int lines) {
  CJPEG_ATTEMPT(codec);
  return jpeg_read_raw_data(codec, planes, lines) == lines;
}

/// `jpeg_finish_decompress`, contained: reads to the end of the picture, so that a missing end is noticed.
CJPEG_WRAPPER cjpeg_finish_decompress(j_decompress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  if (codec->buffered_image && !jpeg_finish_output(codec)) return 0;
  return jpeg_finish_decompress(codec);
}

/// Makes a compressor that writes a file: `jpeg_create_compress` is a macro.
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

/// `jpeg_set_defaults` and `jpeg_set_quality`, contained. Size, components and colour space of
/// the input are set by the caller before. `horizontal` and `vertical` are the luma's sampling factors. `planes` says
/// that the components come apart and already reduced.
CJPEG_WRAPPER cjpeg_prepare_compress(j_compress_ptr codec, int quality, int horizontal, int vertical, int planes) {
  CJPEG_ATTEMPT(codec);
  jpeg_set_defaults(codec);
  codec->raw_data_in = planes;
  // What TurboJPEG's own interface chooses.
  codec->dct_method = quality < 96 ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_set_quality(codec, quality, TRUE);
  codec->comp_info[0].h_samp_factor = horizontal;
  codec->comp_info[0].v_samp_factor = vertical;
  return 1;
}

/// `jpeg_start_compress`, contained.
CJPEG_WRAPPER cjpeg_start_compress(j_compress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  jpeg_start_compress(codec, TRUE);
  return 1;
}

/// `jpeg_write_marker`, contained.
CJPEG_WRAPPER cjpeg_write_marker(j_compress_ptr codec, int marker, const void *bytes, unsigned int count) {
  CJPEG_ATTEMPT(codec);
  jpeg_write_marker(codec, marker, bytes, count);
  return 1;
}

/// `jpeg_write_scanlines`, contained, for one row.
CJPEG_WRAPPER cjpeg_write_row(j_compress_ptr codec, const void *row) {
  CJPEG_ATTEMPT(codec);
  JSAMPROW rows[1] = {(JSAMPROW)row};
  return jpeg_write_scanlines(codec, rows, 1) == 1;
}

/// `jpeg_write_raw_data`, contained: one row of the largest blocks, `lines` rows of samples of the finest component.
CJPEG_WRAPPER cjpeg_write_planes(j_compress_ptr codec, JSAMPIMAGE planes, unsigned int lines) {
  CJPEG_ATTEMPT(codec);
  return jpeg_write_raw_data(codec, planes, lines) == lines;
}

/// `jpeg_finish_compress`, contained.
CJPEG_WRAPPER cjpeg_finish_compress(j_compress_ptr codec) {
  CJPEG_ATTEMPT(codec);
  jpeg_finish_compress(codec);
  return 1;
}
