#include "cgif.h"

#if __has_include(<gif_lib.h>)
#include <errno.h>
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "cloader.h"

#define TEXT(number) #number
#define NUMBER(number) TEXT(number)

/// The library of the versions 5.x.
#define LIBRARY "libgif.so.7"

static struct {
  GifFileType *(*open)(void *, InputFunc, int *);
  int (*record)(GifFileType *, GifRecordType *);
  int (*descriptor)(GifFileType *);
  int (*row)(GifFileType *, GifPixelType *, int);
  int (*close)(GifFileType *, int *);
} giflib;

int cgif_load(void) {
  static int is_loaded = 0;
  if (is_loaded) return 1;
  static const char *const names[] = {
    "DGifOpen", "DGifGetRecordType", "DGifGetImageDesc", "DGifGetLine", "DGifCloseFile", NULL,
  };
  is_loaded = cloader_find(LIBRARY, names, (void **)&giflib);
  return is_loaded;
}

const char *cgif_version(void) { return NUMBER(GIFLIB_MAJOR) "." NUMBER(GIFLIB_MINOR) "." NUMBER(GIFLIB_RELEASE); }

/// The header and the logical screen descriptor of a file of 1 × 1 pixels without a global colour table: giflib does not
/// compare the picture with the screen.
static const unsigned char header[13] = "GIF89a\1\0\1\0\0\0";

struct cgif_reader {
  GifFileType *file;
  FILE *stream;
  long size;      // Of a file whose damage is accepted, otherwise -1.
  size_t served;  // Bytes of the header that giflib has read.
  int is_in_data;  // 1 when only sub-blocks are read.
  int is_in_block;  // 1 when the length of a sub-block has been read, and its bytes are next.
  int system_error;
  int ended;
};

/// Reads the length of a sub-block. One that goes beyond the end of the file is as long as what is left, and at the end there is an
/// empty one, which ends the data: giflib decodes no byte of an incomplete sub-block.
static int read_length(cgif_reader *reader, GifByteType *length) {
  int byte = getc(reader->stream);
  if (byte == EOF && ferror(reader->stream)) {
    reader->system_error = errno;
    return 0;
  }
  long left = byte == EOF ? 0 : reader->size - ftell(reader->stream);
  if (left < 0) left = 0;
  // An empty one may be the last byte of the file.
  if (byte != 0 && left == 0) reader->ended = 1;
  *length = (GifByteType)(byte != EOF && byte < left ? byte : left);
  reader->is_in_block = *length > 0;
  return 1;
}

/// Reads for giflib: the header, then the stream.
static int read_bytes(GifFileType *file, GifByteType *bytes, int count) {
  cgif_reader *reader = file->UserData;
  if (reader->is_in_data && !reader->is_in_block) return read_length(reader, bytes);
  reader->is_in_block = 0;
  size_t wanted = (size_t)count, copied = 0;
  if (reader->served < sizeof header) {
    copied = sizeof header - reader->served < wanted ? sizeof header - reader->served : wanted;
    memcpy(bytes, header + reader->served, copied);
    reader->served += copied;
  }
  size_t read = copied < wanted ? fread(bytes + copied, 1, wanted - copied, reader->stream) : 0;
  if (copied + read < wanted) {
    if (ferror(reader->stream)) {
      reader->system_error = errno;
    } else {
      reader->ended = 1;
    }
  }
  return (int)(copied + read);
}

static enum cgif_failure failure(const cgif_reader *reader, int error) {
  if (reader->system_error != 0) {
    errno = reader->system_error;
    return CGIF_IO;
  }
  if (reader->ended) return CGIF_TRUNCATED;
  switch (error) {
    case D_GIF_ERR_NOT_ENOUGH_MEM: return CGIF_NO_MEMORY;
    case D_GIF_ERR_EOF_TOO_SOON: return CGIF_TOO_SHORT;
    default: return CGIF_INVALID;
  }
}

cgif_reader *cgif_open(FILE *stream, long size, enum cgif_failure *reason) {
  *reason = CGIF_NO_MEMORY;
  cgif_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return NULL;
  reader->stream = stream;
  reader->size = size;
  int error = 0;
  reader->file = giflib.open(reader, read_bytes, &error);
  GifRecordType record = UNDEFINED_RECORD_TYPE;
  if (reader->file != NULL && giflib.record(reader->file, &record) == GIF_OK && record == IMAGE_DESC_RECORD_TYPE
      && giflib.descriptor(reader->file) == GIF_OK) {
    *reason = CGIF_OK;
    reader->is_in_data = size >= 0;
    return reader;
  }
  *reason = failure(reader, reader->file != NULL ? reader->file->Error : error);
  cgif_close(reader);
  return NULL;
}

enum cgif_failure cgif_read_row(cgif_reader *reader, uint8_t *row, int width) {
  if (giflib.row(reader->file, row, width) == GIF_OK) return CGIF_OK;
  return failure(reader, reader->file->Error);
}

void cgif_close(cgif_reader *reader) {
  if (reader == NULL) return;
  int error;
  if (reader->file != NULL) giflib.close(reader->file, &error);
  free(reader);
}

#else  // Built without giflib's header.

int cgif_load(void) { return 0; }
const char *cgif_version(void) { return ""; }
cgif_reader *cgif_open(FILE *stream, long size, enum cgif_failure *reason) {
  (void)stream, (void)size;
  *reason = CGIF_NO_MEMORY;
  return NULL;
}
enum cgif_failure cgif_read_row(cgif_reader *reader, uint8_t *row, int width) {
  (void)reader, (void)row, (void)width;
  return CGIF_INVALID;
}
void cgif_close(cgif_reader *reader) { (void)reader; }

#endif
