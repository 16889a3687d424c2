#pragma once
#include <libheif/heif.h>
#include <libheif/heif_plugin.h>
#include <stdint.h>

#include "cheif.h"
#include "cloader.h"

// Decoders of HEVC and AV1 for libheif that need no threads: those of libheif start some, which a confined worker may not.
// Its decoder of HEVC waits for them without end.

/// The functions of libheif that are used, `name_` for `name`.
#define LIBHEIF_FUNCTIONS(use) \
  use(heif_context_alloc) use(heif_context_free) use(heif_context_set_max_decoding_threads) \
  use(heif_context_set_maximum_image_size_limit) use(heif_context_read_from_reader) \
  use(heif_context_get_primary_image_handle) use(heif_image_handle_release) \
  use(heif_image_handle_get_luma_bits_per_pixel) use(heif_image_handle_is_premultiplied_alpha) use(heif_decode_image) \
  use(heif_image_create) use(heif_image_add_plane) use(heif_image_get_plane) use(heif_image_release) \
  use(heif_image_get_width) use(heif_image_get_height) use(heif_image_get_bits_per_pixel_range) \
  use(heif_image_get_plane_readonly) use(heif_nclx_color_profile_alloc) use(heif_nclx_color_profile_free) \
  use(heif_nclx_color_profile_set_color_primaries) use(heif_nclx_color_profile_set_transfer_characteristics) \
  use(heif_nclx_color_profile_set_matrix_coefficients) use(heif_image_set_nclx_color_profile) \
  use(heif_image_handle_get_nclx_color_profile) \
  use(heif_register_decoder_plugin) use(heif_image_set_raw_color_profile) \
  use(heif_context_get_encoder_for_format) use(heif_encoder_release) use(heif_encoder_set_lossy_quality) \
  use(heif_encoder_set_parameter_integer) use(heif_encoder_set_parameter_string) use(heif_encoding_options_alloc) \
  use(heif_encoding_options_free) use(heif_context_encode_image) use(heif_context_add_exif_metadata) \
  use(heif_context_add_XMP_metadata) use(heif_context_write)

#define DECLARE(function) __typeof__(&function) function##_;
struct libheif {
  LIBHEIF_FUNCTIONS(DECLARE)
};
#undef DECLARE
extern struct libheif cheif_libheif;

/// The most pixels of a coded picture that this thread decodes. A larger one is an error.
extern _Thread_local int64_t cheif_max_pixels;
/// The least columns and rows that it has.
extern _Thread_local int cheif_min_width, cheif_min_height;
/// The bits of its samples. Others are an error: libheif copies pictures of a grid without comparing them.
extern _Thread_local int cheif_bits;
/// The first picture that this thread has decoded since `cheif_decode` was called: the primary one, or the first of its grid.
struct cheif_first {
  int is_known, is_grey, full_range;
};
extern _Thread_local struct cheif_first cheif_first;

/// A decoded picture of planes of Y, or of Y, Cb and Cr.
struct cheif_planes {
  int width, height, bits;
  enum heif_chroma chroma;
  const uint8_t *data[3];
  ptrdiff_t stride[3];
  /// As in ITU-T H.273.
  int primaries, transfer, matrix, full_range;
};

/// Copies planes to a picture of libheif.
struct heif_error cheif_copy_planes(const struct cheif_planes *planes, struct heif_image **result);

/// The reason of an error. Sets `errno` to that of a call of the system, if it is not 0.
enum cheif_failure cheif_failure_of(struct heif_error error, int system_error);

extern const struct heif_error cheif_ok, cheif_no_memory, cheif_damaged;

/// Load libde265 and libdav1d. NULL when the library is missing.
const struct heif_decoder_plugin *cheif_hevc_decoder(void);
const struct heif_decoder_plugin *cheif_av1_decoder(void);
