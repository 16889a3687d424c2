#include "ctiff.h"

#if __has_include(<tiffio.h>)
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

#include "cloader.h"

#define TEXT(number) #number
#define NUMBER(number) TEXT(number)

/// The functions of libtiff that are used, `name_` for `name`.
#define LIBTIFF_FUNCTIONS(use) \
  use(TIFFOpenOptionsAlloc) use(TIFFOpenOptionsFree) use(TIFFOpenOptionsSetMaxSingleMemAlloc) \
  use(TIFFOpenOptionsSetErrorHandlerExtR) use(TIFFOpenOptionsSetWarningHandlerExtR) use(TIFFClientOpenExt) \
  use(TIFFClose) use(TIFFSetField) use(TIFFIsCODECConfigured) use(TIFFGetField) use(TIFFScanlineSize64) \
  use(TIFFTileSize64) use(TIFFIsTiled) use(TIFFReadScanline) use(TIFFReadEncodedStrip) use(TIFFReadEncodedTile)

#define DECLARE(function) __typeof__(&function) function##_;
static struct {
  LIBTIFF_FUNCTIONS(DECLARE)
} libtiff;

int ctiff_load(void) {
  static int is_loaded = 0;
  if (is_loaded) return 1;
#define NAME(function) #function,
  static const char *const names[] = {LIBTIFF_FUNCTIONS(NAME) NULL};
  // The library of the versions 4.x since 4.5, the first with options for opening.
  is_loaded = cloader_find("libtiff.so.6", names, (void **)&libtiff);
  return is_loaded;
}

const char *ctiff_version(void) {
  return NUMBER(TIFFLIB_MAJOR_VERSION) "." NUMBER(TIFFLIB_MINOR_VERSION) "." NUMBER(TIFFLIB_MICRO_VERSION);
}

struct ctiff_reader {
  struct ctiff_source source;
  TIFF *tiff;
  int64_t position;
  int system_error, is_damaged, lacks_memory;
};

/// Warnings of files that are decoded as they are meant: those of libtiff's first versions, and of unusual ones.
static int is_harmless(const char *format) {
  static const char *const beginnings[] = {
    "Old-style LZW codes", "The JPEG strip/tile is encoded with progressive mode", "Auto-corrected former TIFF subsampling values",
    "JPEG strip size exceeds expected dimensions", "Nonstandard tile "};
  for (size_t index = 0; index < sizeof beginnings / sizeof *beginnings; index++) {
    if (strncmp(format, beginnings[index], strlen(beginnings[index])) == 0) return 1;
  }
  return 0;
}

/// libtiff goes on after some errors and after what it warns of, such as missing rows of a facsimile. Only `errno` says whether it, or
/// a library that it calls, got no memory.
static int note_damage(TIFF *tiff, void *reader, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)module, (void)arguments;
  if (errno == ENOMEM) ((ctiff_reader *)reader)->lacks_memory = 1;
  if (!is_harmless(format)) ((ctiff_reader *)reader)->is_damaged = 1;
  return 1;
}

static tmsize_t read_bytes(thandle_t handle, void *bytes, tmsize_t count) {
  ctiff_reader *reader = handle;
  const struct ctiff_source *source = &reader->source;
  tmsize_t done = 0;
  if (reader->position < source->header_size) {
    int64_t left = source->header_size - reader->position;
    done = left < count ? left : count;
    memcpy(bytes, source->header + reader->position, (size_t)done);
    reader->position += done;
  }
  while (done < count) {
    ssize_t read = pread(
      source->descriptor, (char *)bytes + done, (size_t)(count - done), reader->position - source->header_size);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) reader->system_error = errno;
    if (read <= 0) break;
    done += read;
    reader->position += read;
  }
  return done;
}

static tmsize_t write_nothing(thandle_t reader, void *bytes, tmsize_t count) {
  (void)reader, (void)bytes, (void)count;
  return -1;
}

static toff_t get_size(thandle_t handle) {
  ctiff_reader *reader = handle;
  return (toff_t)(reader->source.header_size + reader->source.size);
}

static toff_t seek_to(thandle_t handle, toff_t offset, int origin) {
  ctiff_reader *reader = handle;
  int64_t start = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? reader->position : (int64_t)get_size(reader);
  int64_t position;
  if (__builtin_add_overflow(start, (int64_t)offset, &position) || position < 0) return (toff_t)-1;
  reader->position = position;
  return (toff_t)position;
}

static int close_nothing(thandle_t reader) { return (void)reader, 0; }

static enum ctiff_failure failure_of(ctiff_reader *reader, int is_done) {
  if (reader->system_error != 0) {
    errno = reader->system_error;
    return CTIFF_IO;
  }
  if (is_done && !reader->is_damaged) return CTIFF_OK;
  return reader->lacks_memory ? CTIFF_NO_MEMORY : CTIFF_INVALID;
}

/// What earlier calls found wrong, and libtiff went on after, does not count.
static void begin_call(ctiff_reader *reader) { errno = reader->lacks_memory = 0; }

static enum ctiff_failure open_file(ctiff_reader *reader) {
  begin_call(reader);
  TIFFOpenOptions *options = libtiff.TIFFOpenOptionsAlloc_();
  if (options == NULL) return CTIFF_NO_MEMORY;
  libtiff.TIFFOpenOptionsSetMaxSingleMemAlloc_(options, reader->source.max_allocation);
  libtiff.TIFFOpenOptionsSetErrorHandlerExtR_(options, note_damage, reader);
  libtiff.TIFFOpenOptionsSetWarningHandlerExtR_(options, note_damage, reader);
  // Neither mapped, nor with strips divided.
  reader->tiff = libtiff.TIFFClientOpenExt_(
    "", "rmc", reader, read_bytes, write_nothing, seek_to, close_nothing, get_size, NULL, NULL, options);
  libtiff.TIFFOpenOptionsFree_(options);
  if (reader->tiff == NULL) return failure_of(reader, 0);
  uint16_t compression = COMPRESSION_NONE;
  libtiff.TIFFGetField_(reader->tiff, TIFFTAG_COMPRESSION, &compression);
  if (!libtiff.TIFFIsCODECConfigured_(compression)) return CTIFF_UNSUPPORTED;
  if (reader->source.converts_jpeg) {
    libtiff.TIFFSetField_(reader->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  // The caller's memory is as large as it thinks.
  int64_t size = libtiff.TIFFIsTiled_(reader->tiff) ? (int64_t)libtiff.TIFFTileSize64_(reader->tiff)
                                                    : (int64_t)libtiff.TIFFScanlineSize64_(reader->tiff);
  int64_t expected = libtiff.TIFFIsTiled_(reader->tiff) ? reader->source.tile_size : reader->source.row_size;
  return failure_of(reader, size == expected);
}

ctiff_reader *ctiff_open(const struct ctiff_source *source, enum ctiff_failure *failure) {
  ctiff_reader *reader = calloc(1, sizeof *reader);
  *failure = reader == NULL ? CTIFF_NO_MEMORY : CTIFF_OK;
  if (reader == NULL) return NULL;
  reader->source = *source;
  *failure = open_file(reader);
  if (*failure == CTIFF_OK) return reader;
  int error = errno;
  ctiff_close(reader);
  errno = error;
  return NULL;
}

enum ctiff_failure ctiff_read_row(ctiff_reader *reader, uint32_t row, void *bytes) {
  begin_call(reader);
  return failure_of(reader, libtiff.TIFFReadScanline_(reader->tiff, bytes, row, 0) == 1);
}

enum ctiff_failure ctiff_read_strip(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size) {
  begin_call(reader);
  return failure_of(reader, libtiff.TIFFReadEncodedStrip_(reader->tiff, index, bytes, size) == size);
}

enum ctiff_failure ctiff_read_tile(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size) {
  begin_call(reader);
  return failure_of(reader, libtiff.TIFFReadEncodedTile_(reader->tiff, index, bytes, size) == size);
}

void ctiff_close(ctiff_reader *reader) {
  if (reader == NULL) return;
  if (reader->tiff != NULL) libtiff.TIFFClose_(reader->tiff);
  free(reader);
}

#else  // Built without libtiff's header.

int ctiff_load(void) { return 0; }
const char *ctiff_version(void) { return ""; }
ctiff_reader *ctiff_open(const struct ctiff_source *source, enum ctiff_failure *failure) {
  (void)source;
  *failure = CTIFF_UNSUPPORTED;
  return NULL;
}
enum ctiff_failure ctiff_read_row(ctiff_reader *reader, uint32_t row, void *bytes) {
  return (void)reader, (void)row, (void)bytes, CTIFF_INVALID;
}
enum ctiff_failure ctiff_read_strip(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size) {
  return (void)reader, (void)index, (void)bytes, (void)size, CTIFF_INVALID;
}
enum ctiff_failure ctiff_read_tile(ctiff_reader *reader, uint32_t index, void *bytes, int64_t size) {
  return (void)reader, (void)index, (void)bytes, (void)size, CTIFF_INVALID;
}
void ctiff_close(ctiff_reader *reader) { (void)reader; }

#endif
