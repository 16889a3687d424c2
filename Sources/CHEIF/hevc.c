#if __has_include(<libheif/heif.h>) && __has_include(<libde265/de265.h>) && __has_include(<dav1d/dav1d.h>)
#include "decoders.h"

#include <libde265/de265.h>

#define FUNCTIONS(use) \
  use(de265_new_decoder) use(de265_free_decoder) use(de265_push_NAL) use(de265_flush_data) use(de265_decode) \
  use(de265_peek_next_picture) use(de265_get_image_width) use(de265_get_image_height) \
  use(de265_get_chroma_format) use(de265_get_bits_per_pixel) use(de265_get_image_plane) \
  use(de265_get_warning) use(de265_get_image_full_range_flag) use(de265_get_image_colour_primaries) \
  use(de265_get_image_transfer_characteristics) use(de265_get_image_matrix_coefficients)

#define DECLARE(function) __typeof__(&function) function##_;
static struct {
  FUNCTIONS(DECLARE)
} libde265;

static const char *name(void) { return "libde265 without threads"; }

static int priority(enum heif_compression_format format) {
  return format == heif_compression_HEVC ? 1000 : 0;
}

static struct heif_error create(void **decoder) {
  // Worker threads would have to be asked for.
  *decoder = libde265.de265_new_decoder_();
  return *decoder != NULL ? cheif_ok : cheif_no_memory;
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
  de265_error error = libde265.de265_flush_data_(decoder);
  const struct de265_image *image = NULL;
  for (int more = 1; error == DE265_OK && more != 0 && image == NULL;) {
    error = libde265.de265_decode_(decoder, &more);
    image = libde265.de265_peek_next_picture_(decoder);
  }
  if (error == DE265_ERROR_OUT_OF_MEMORY) return cheif_no_memory;
  if (error != DE265_OK || image == NULL) return cheif_damaged;
  // What is damaged is decoded with warnings. These say something else.
  for (de265_error warning; (warning = libde265.de265_get_warning_(decoder)) != DE265_OK;) {
    if (warning != DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING
        && warning != DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM
        && warning != DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI) {
      return cheif_damaged;
    }
  }
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
