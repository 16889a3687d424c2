#include "cheif_encode.h"

#if __has_include(<libheif/heif.h>) && __has_include(<libde265/de265.h>) && __has_include(<dav1d/dav1d.h>)
#include "decoders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cheif_encoder {
  struct heif_image *image;
  uint8_t *plane;
  int stride, width, samples;
};

cheif_encoder *cheif_encoder_create(const struct cheif_settings *settings) {
  cheif_encoder *encoder = calloc(1, sizeof *encoder);
  if (encoder == NULL) return NULL;
  *encoder = (cheif_encoder){.width = settings->width, .samples = settings->has_alpha ? 4 : 3};
  enum heif_chroma chroma = settings->has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  struct heif_error error = cheif_libheif.heif_image_create_(
    settings->width, settings->height, heif_colorspace_RGB, chroma, &encoder->image);
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_image_add_plane_(
      encoder->image, heif_channel_interleaved, settings->width, settings->height, 8);
  }
  if (error.code == heif_error_Ok && settings->profile != NULL) {
    error = cheif_libheif.heif_image_set_raw_color_profile_(
      encoder->image, "prof", settings->profile, settings->profile_size);
  }
  if (error.code == heif_error_Ok) {
    encoder->plane =
      cheif_libheif.heif_image_get_plane_(encoder->image, heif_channel_interleaved, &encoder->stride);
  }
  if (encoder->plane != NULL) return encoder;
  cheif_encoder_free(encoder);
  return NULL;
}

void cheif_set_row(cheif_encoder *encoder, int row, const uint8_t *pixels) {
  uint8_t *target = encoder->plane + (ptrdiff_t)row * encoder->stride;
  for (int column = 0; column < encoder->width; column++) {
    for (int sample = 0; sample < encoder->samples; sample++) *target++ = pixels[4 * column + sample];
  }
}

/// Where libheif writes to.
struct output {
  int descriptor, system_error;
};

static struct heif_error write_bytes(struct heif_context *context, const void *data, size_t size, void *userdata) {
  (void)context;
  struct output *output = userdata;
  for (size_t done = 0; done < size;) {
    ssize_t written = write(output->descriptor, (const char *)data + done, size - done);
    if (written >= 0) {
      done += (size_t)written;
    } else if (errno != EINTR) {
      output->system_error = errno;
      return (struct heif_error){heif_error_Encoding_error, heif_suberror_Cannot_write_output_data, ""};
    }
  }
  return cheif_ok;
}

static struct heif_error set_up(struct heif_encoder *codec, const struct cheif_settings *settings) {
  struct heif_error error = cheif_libheif.heif_encoder_set_lossy_quality_(codec, settings->quality);
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_encoder_set_parameter_integer_(codec, "speed", settings->speed);
  }
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_encoder_set_parameter_integer_(codec, "threads", 1);
  }
  if (error.code == heif_error_Ok) {
    error =
      cheif_libheif.heif_encoder_set_parameter_string_(codec, "chroma", settings->full_chroma ? "444" : "420");
  }
  return error;
}

/// sRGB, with the matrix of JPEG.
static struct heif_color_profile_nclx *srgb(void) {
  struct heif_color_profile_nclx *colour = cheif_libheif.heif_nclx_color_profile_alloc_();
  if (colour == NULL) return NULL;
  cheif_libheif.heif_nclx_color_profile_set_color_primaries_(colour, heif_color_primaries_ITU_R_BT_709_5);
  cheif_libheif.heif_nclx_color_profile_set_transfer_characteristics_(
    colour, heif_transfer_characteristic_IEC_61966_2_1);
  cheif_libheif.heif_nclx_color_profile_set_matrix_coefficients_(
    colour, heif_matrix_coefficients_ITU_R_BT_601_6);
  colour->full_range_flag = 1;
  return colour;
}

static struct heif_error encode(
  struct heif_context *context, struct heif_encoder *codec, const cheif_encoder *encoder,
  const struct cheif_settings *settings
) {
  struct heif_encoding_options *options = cheif_libheif.heif_encoding_options_alloc_();
  struct heif_color_profile_nclx *colour = srgb();
  struct heif_image_handle *handle = NULL;
  struct heif_error error = options != NULL && colour != NULL ? set_up(codec, settings) : cheif_no_memory;
  if (error.code == heif_error_Ok) {
    options->macOS_compatibility_workaround = 0;
    options->output_nclx_profile = colour;
    error = cheif_libheif.heif_context_encode_image_(context, encoder->image, codec, options, &handle);
  }
  if (error.code == heif_error_Ok && settings->exif != NULL) {
    error = cheif_libheif.heif_context_add_exif_metadata_(
      context, handle, settings->exif, (int)settings->exif_size);
  }
  if (error.code == heif_error_Ok && settings->xmp != NULL) {
    error = cheif_libheif.heif_context_add_XMP_metadata_(context, handle, settings->xmp, (int)settings->xmp_size);
  }
  if (handle != NULL) cheif_libheif.heif_image_handle_release_(handle);
  if (colour != NULL) cheif_libheif.heif_nclx_color_profile_free_(colour);
  if (options != NULL) cheif_libheif.heif_encoding_options_free_(options);
  return error;
}

enum cheif_failure cheif_encode(cheif_encoder *encoder, const struct cheif_settings *settings, int descriptor) {
  static const struct heif_writer writer = {.writer_api_version = 1, .write = write_bytes};
  struct output output = {.descriptor = descriptor};
  struct heif_context *context = cheif_libheif.heif_context_alloc_();
  struct heif_encoder *codec = NULL;
  struct heif_error error = context != NULL ? cheif_ok : cheif_no_memory;
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_context_get_encoder_for_format_(context, heif_compression_AV1, &codec);
  }
  if (error.code == heif_error_Ok) error = encode(context, codec, encoder, settings);
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_context_write_(context, (struct heif_writer *)(uintptr_t)&writer, &output);
  }
  if (codec != NULL) cheif_libheif.heif_encoder_release_(codec);
  if (context != NULL) cheif_libheif.heif_context_free_(context);
  return cheif_failure_of(error, output.system_error);
}

void cheif_encoder_free(cheif_encoder *encoder) {
  if (encoder == NULL) return;
  if (encoder->image != NULL) cheif_libheif.heif_image_release_(encoder->image);
  free(encoder);
}

#else  // Built without libheif's header.

cheif_encoder *cheif_encoder_create(const struct cheif_settings *settings) { return (void)settings, (void *)0; }
void cheif_set_row(cheif_encoder *encoder, int row, const uint8_t *pixels) { (void)encoder, (void)row, (void)pixels; }
enum cheif_failure cheif_encode(cheif_encoder *encoder, const struct cheif_settings *settings, int descriptor) {
  (void)encoder, (void)settings, (void)descriptor;
  return CHEIF_UNSUPPORTED;
}
void cheif_encoder_free(cheif_encoder *encoder) { (void)encoder; }

#endif
