#if __has_include(<libheif/heif.h>) && __has_include(<libde265/de265.h>) && __has_include(<dav1d/dav1d.h>)
#include "decoders.h"

#include <libde265/de265.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(use) \
  use(de265_new_decoder) use(de265_free_decoder) use(de265_push_NAL) use(de265_flush_data) use(de265_decode) \
  use(de265_peek_next_picture) use(de265_get_image_width) use(de265_get_image_height) \
  use(de265_get_chroma_format) use(de265_get_bits_per_pixel) use(de265_get_image_plane) \
  use(de265_get_warning) use(de265_get_image_full_range_flag) use(de265_get_image_colour_primaries) \
  use(de265_get_image_transfer_characteristics) use(de265_get_image_matrix_coefficients) \
  use(de265_set_image_allocation_functions) use(de265_set_image_plane) use(de265_get_image_plane_user_data) \
  use(de265_set_parameter_bool)

#define DECLARE(function) __typeof__(&function) function##_;
static struct {
  FUNCTIONS(DECLARE)
} libde265;

static const char *name(void) { return "libde265 without threads"; }

static int priority(enum heif_compression_format format) {
  return format == heif_compression_HEVC ? 1000 : 0;
}

// libde265 1.0.11 does not report a slice that ends too early, and delivers what was in the memory before where blocks are
// missing. Planes are filled before: missing blocks are found, and no memory is shown. It asks for planes only when SAO is off,
// for which it needs others with threads. Without them it does not: SAO is off until it has asked.

/// Whether the last picture was larger than the file says.
static _Thread_local int is_too_large;

/// The planes of a picture, in one piece of memory.
struct planes {
  uint8_t *luma;
  /// Of the luma plane: its coded size and its stride, in samples, and the bytes of a sample.
  size_t width, height, stride, sample_size;
};

/// No block is smaller, and each picture consists of whole ones (ITU-T H.265 § 7.4.3.2.1).
enum { BLOCK = 8, ALIGNMENT = 64 };

/// The sample that each missing block has at a place: values without order, 64 of which no coded block has by chance.
static unsigned pattern(size_t column, size_t row, int bits) {
  uint32_t value = (uint32_t)(row % BLOCK * BLOCK + column % BLOCK + 1) * 2654435761u;
  return (value ^ value >> 15) >> 8 & ((1u << bits) - 1);
}

static void fill(struct planes *planes, int bits) {
  for (size_t row = 0; row < planes->height; row++) {
    uint8_t *samples = planes->luma + row * planes->stride * planes->sample_size;
    // The pattern repeats itself.
    if (row >= BLOCK) {
      size_t bytes = planes->stride * planes->sample_size;
      memcpy(samples, samples - BLOCK * bytes, bytes);
      continue;
    }
    for (size_t column = 0; column < planes->stride; column++) {
      if (planes->sample_size == 1) {
        samples[column] = (uint8_t)pattern(column, row, bits);
      } else {
        ((uint16_t *)(void *)samples)[column] = (uint16_t)pattern(column, row, bits);
      }
    }
  }
}

/// Whether a block of luma still has what it was filled with. The first row of most that have been decoded is another one.
static int is_missing(const struct planes *planes, const uint8_t *block, const uint8_t *filled) {
  size_t bytes = planes->stride * planes->sample_size;
  size_t count = BLOCK * planes->sample_size;
  for (size_t row = 0; row < BLOCK; row++) {
    if (memcmp(block + row * bytes, filled + row * count, count) != 0) return 0;
  }
  return 1;
}

static int has_missing_blocks(const struct planes *planes, int bits) {
  uint16_t words[BLOCK * BLOCK];
  uint8_t bytes[BLOCK * BLOCK];
  for (size_t index = 0; index < BLOCK * BLOCK; index++) {
    words[index] = (uint16_t)pattern(index % BLOCK, index / BLOCK, bits);
    bytes[index] = (uint8_t)words[index];
  }
  const uint8_t *filled = planes->sample_size == 1 ? bytes : (const uint8_t *)words;
  for (size_t row = 0; row + BLOCK <= planes->height; row += BLOCK) {
    for (size_t column = 0; column + BLOCK <= planes->width; column += BLOCK) {
      const uint8_t *block = planes->luma + (row * planes->stride + column) * planes->sample_size;
      if (is_missing(planes, block, filled)) return 1;
    }
  }
  return 0;
}

/// The bytes of a plane, a multiple of the alignment, with some more, since vector instructions read beyond its end.
static size_t plane_size(size_t stride, size_t height, size_t sample_size) {
  return (stride * height * sample_size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/// Allocates planes as libde265 does. Returns 0 without memory.
static int get_buffer(
  de265_decoder_context *ignored, struct de265_image_spec *spec, struct de265_image *image, void *decoder
) {
  (void)ignored;
  // The coded size has margins that are cut off.
  is_too_large = (int64_t)spec->width * spec->height > 2 * cheif_max_pixels + (1 << 16);
  if (is_too_large) return 0;
  libde265.de265_set_parameter_bool_(decoder, DE265_DECODER_PARAM_DISABLE_SAO, 0);
  enum de265_chroma chroma = libde265.de265_get_chroma_format_(image);
  int has_chroma = chroma != de265_chroma_mono;
  int bits = libde265.de265_get_bits_per_pixel_(image, 0);
  int chroma_bits = has_chroma ? libde265.de265_get_bits_per_pixel_(image, 1) : 8;
  if (spec->width <= 0 || spec->height <= 0 || spec->alignment <= 0) return 0;
  size_t alignment = (size_t)spec->alignment, width = (size_t)spec->width, height = (size_t)spec->height;
  size_t chroma_width = chroma == de265_chroma_444 ? width : width / 2;
  size_t chroma_height = chroma == de265_chroma_420 ? height / 2 : height;
  size_t stride = (width + alignment - 1) / alignment * alignment;
  size_t chroma_stride = has_chroma ? (chroma_width + alignment - 1) / alignment * alignment : 0;
  size_t sample_size = bits > 8 ? 2 : 1, chroma_sample_size = chroma_bits > 8 ? 2 : 1;
  size_t size = plane_size(stride, height, sample_size);
  size_t chroma_size = has_chroma ? plane_size(chroma_stride, chroma_height, chroma_sample_size) : 0;
  struct planes *planes = malloc(sizeof *planes);
  uint8_t *memory = planes != NULL ? aligned_alloc(ALIGNMENT, size + 2 * chroma_size) : NULL;
  if (memory == NULL) {
    free(planes);
    return 0;
  }
  *planes = (struct planes){memory, width, height, stride, sample_size};
  fill(planes, bits);
  memset(memory + stride * height * sample_size, 0, size + 2 * chroma_size - stride * height * sample_size);
  libde265.de265_set_image_plane_(image, 0, memory, (int)(stride * sample_size), planes);
  for (int index = 1; index < 3; index++) {
    uint8_t *plane = has_chroma ? memory + size + (size_t)(index - 1) * chroma_size : NULL;
    libde265.de265_set_image_plane_(image, index, plane, (int)(chroma_stride * chroma_sample_size), NULL);
  }
  return 1;
}

static void release_buffer(de265_decoder_context *decoder, struct de265_image *image, void *data) {
  (void)decoder, (void)data;
  struct planes *planes = libde265.de265_get_image_plane_user_data_(image, 0);
  if (planes == NULL) return;
  free(planes->luma);
  free(planes);
}

static struct heif_error create(void **decoder) {
  // Worker threads would have to be asked for.
  *decoder = libde265.de265_new_decoder_();
  if (*decoder == NULL) return cheif_no_memory;
  static struct de265_image_allocation allocation = {.get_buffer = get_buffer, .release_buffer = release_buffer};
  libde265.de265_set_image_allocation_functions_(*decoder, &allocation, *decoder);
  libde265.de265_set_parameter_bool_(*decoder, DE265_DECODER_PARAM_DISABLE_SAO, 1);
  // Digests in the file are not compared: libde265 computes other CRCs than encoders, and wrong sums of samples of 16 bits.
  return cheif_ok;
}

static void destroy(void *decoder) { libde265.de265_free_decoder_(decoder); }

/// Passes NAL units, each after its length in 4 bytes.
static struct heif_error push(void *decoder, const void *data, size_t size) {
  const uint8_t *bytes = data;
  while (size > 0) {
    if (size < 4) return cheif_damaged;
    size_t count = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    if (count > size - 4) return cheif_damaged;
    de265_error error = libde265.de265_push_NAL_(decoder, bytes + 4, (int)count, 0, NULL);
    if (error == DE265_ERROR_OUT_OF_MEMORY) return cheif_no_memory;
    if (error != DE265_OK) return cheif_damaged;
    bytes += 4 + count;
    size -= 4 + count;
  }
  return cheif_ok;
}

static struct heif_error decode(void *decoder, struct heif_image **result) {
  is_too_large = 0;
  de265_error error = libde265.de265_flush_data_(decoder);
  const struct de265_image *image = NULL;
  for (int more = 1; error == DE265_OK && more != 0 && image == NULL;) {
    error = libde265.de265_decode_(decoder, &more);
    image = libde265.de265_peek_next_picture_(decoder);
  }
  if (error == DE265_ERROR_OUT_OF_MEMORY && !is_too_large) return cheif_no_memory;
  if (error != DE265_OK || image == NULL) return cheif_damaged;
  // What is damaged is decoded with warnings. These say something else.
  for (de265_error warning; (warning = libde265.de265_get_warning_(decoder)) != DE265_OK;) {
    if (warning != DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING
        && warning != DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM
        && warning != DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI) {
      return cheif_damaged;
    }
  }
  const struct planes *coded = libde265.de265_get_image_plane_user_data_(image, 0);
  if (coded == NULL || has_missing_blocks(coded, libde265.de265_get_bits_per_pixel_(image, 0))) return cheif_damaged;
  struct cheif_planes planes = {
    .width = libde265.de265_get_image_width_(image, 0),
    .height = libde265.de265_get_image_height_(image, 0),
    .bits = libde265.de265_get_bits_per_pixel_(image, 0),
    .primaries = libde265.de265_get_image_colour_primaries_(image),
    .transfer = libde265.de265_get_image_transfer_characteristics_(image),
    .matrix = libde265.de265_get_image_matrix_coefficients_(image),
    .full_range = libde265.de265_get_image_full_range_flag_(image),
  };
  switch (libde265.de265_get_chroma_format_(image)) {
    case de265_chroma_420: planes.chroma = heif_chroma_420; break;
    case de265_chroma_422: planes.chroma = heif_chroma_422; break;
    case de265_chroma_444: planes.chroma = heif_chroma_444; break;
    default: planes.chroma = heif_chroma_monochrome;
  }
  for (int index = 0; index < (planes.chroma == heif_chroma_monochrome ? 1 : 3); index++) {
    int stride = 0;
    int halves_width = index > 0 && planes.chroma != heif_chroma_444;
    int halves_height = index > 0 && planes.chroma == heif_chroma_420;
    if (libde265.de265_get_bits_per_pixel_(image, index) != planes.bits
        || libde265.de265_get_image_width_(image, index) < (planes.width + halves_width) / (1 + halves_width)
        || libde265.de265_get_image_height_(image, index) < (planes.height + halves_height) / (1 + halves_height)) {
      return cheif_damaged;
    }
    planes.data[index] = libde265.de265_get_image_plane_(image, index, &stride);
    planes.stride[index] = stride;
  }
  return cheif_copy_planes(&planes, result);
}

static const struct heif_decoder_plugin plugin = {
  .plugin_api_version = 3,
  .get_plugin_name = name,
  .does_support_format = priority,
  .new_decoder = create,
  .free_decoder = destroy,
  .push_data = push,
  .decode_image = decode,
  .id_name = "darkroom-libde265",
};

const struct heif_decoder_plugin *cheif_hevc_decoder(void) {
#define NAME(function) #function,
  static const char *const names[] = {FUNCTIONS(NAME) NULL};
  return cloader_find("libde265.so.0", names, (void **)&libde265) ? &plugin : NULL;
}
#endif
