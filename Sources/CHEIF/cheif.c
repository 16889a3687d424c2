#include "cheif.h"

#if __has_include(<libheif/heif.h>) && __has_include(<libde265/de265.h>) && __has_include(<dav1d/dav1d.h>)
#include "decoders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct libheif cheif_libheif;
_Thread_local int64_t cheif_max_pixels;
_Thread_local int cheif_min_width, cheif_min_height;
_Thread_local int cheif_bits;
_Thread_local struct cheif_first cheif_first;

int cheif_load(void) {
  static int is_loaded = 0;
  if (is_loaded) return 1;
#define NAME(function) #function,
  static const char *const names[] = {LIBHEIF_FUNCTIONS(NAME) NULL};
  // The library of the versions 1.x.
  if (!cloader_find("libheif.so.1", names, (void **)&cheif_libheif)) return 0;
  const struct heif_decoder_plugin *decoders[] = {cheif_hevc_decoder(), cheif_av1_decoder()};
  for (int index = 0; index < 2; index++) {
    if (decoders[index] == NULL) return 0;
    if (cheif_libheif.heif_register_decoder_plugin_(decoders[index]).code != heif_error_Ok) return 0;
  }
  is_loaded = 1;
  return 1;
}

const char *cheif_version(void) { return LIBHEIF_VERSION; }

const struct heif_error cheif_ok = {heif_error_Ok, heif_suberror_Unspecified, ""};
const struct heif_error cheif_no_memory = {heif_error_Memory_allocation_error, heif_suberror_Unspecified, ""};
const struct heif_error cheif_damaged = {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, ""};

static struct heif_error set_colour(const struct cheif_planes *planes, struct heif_image *image) {
  struct heif_color_profile_nclx *profile = cheif_libheif.heif_nclx_color_profile_alloc_();
  if (profile == NULL) return cheif_no_memory;
  // Numbers that libheif does not know leave what is set: unspecified.
  cheif_libheif.heif_nclx_color_profile_set_color_primaries_(profile, (uint16_t)planes->primaries);
  cheif_libheif.heif_nclx_color_profile_set_transfer_characteristics_(profile, (uint16_t)planes->transfer);
  cheif_libheif.heif_nclx_color_profile_set_matrix_coefficients_(profile, (uint16_t)planes->matrix);
  profile->full_range_flag = (uint8_t)planes->full_range;
  struct heif_error error = cheif_libheif.heif_image_set_nclx_color_profile_(image, profile);
  cheif_libheif.heif_nclx_color_profile_free_(profile);
  return error;
}

/// Doubles the columns of a row of chroma, each of which is in the middle of its two pixels, blended with the other row that is
/// nearest to the pixels. A last pixel without a neighbour has its own chroma, as by libyuv. `buffer` has room for two more sums
/// than the row has samples.
#define DEFINE_UPSAMPLE(name, sample, sum)                                                                           \
  static void name(const void *near_row, const void *far_row, int count, void *buffer, void *pixels, int width) {    \
    const sample *near = near_row, *far = far_row;                                                                   \
    sum *sums = buffer;                                                                                              \
    sample *target = pixels;                                                                                         \
    for (int index = 0; index < count; index++) sums[index + 1] = (sum)(3 * near[index] + far[index]);               \
    sums[0] = sums[1];                                                                                               \
    sums[count + 1] = sums[count];                                                                                   \
    for (int index = 0; index < width / 2; index++) {                                                                \
      target[2 * index] = (sample)((3 * sums[index + 1] + sums[index] + 8) >> 4);                                    \
      target[2 * index + 1] = (sample)((3 * sums[index + 1] + sums[index + 2] + 8) >> 4);                            \
    }                                                                                                                \
    if (width % 2 == 1) target[width - 1] = (sample)((4 * sums[count] + 8) >> 4);                                    \
  }
DEFINE_UPSAMPLE(upsample_bytes, uint8_t, uint16_t)
DEFINE_UPSAMPLE(upsample_words, uint16_t, uint32_t)
#undef DEFINE_UPSAMPLE

/// Writes a plane of chroma in the size of the picture: interpolated as libavif and libjpeg-turbo do, which libheif 1.15 does not.
static struct heif_error upsample(const struct cheif_planes *planes, int index, uint8_t *target, int stride) {
  int width = (planes->width + 1) / 2, wide = planes->bits > 8;
  int halves_height = planes->chroma == heif_chroma_420;
  int height = halves_height ? (planes->height + 1) / 2 : planes->height;
  void *sums = malloc(((size_t)width + 2) * sizeof(uint32_t));
  if (sums == NULL) return cheif_no_memory;
  for (int row = 0; row < planes->height; row++) {
    int near = halves_height ? row / 2 : row;
    int far = halves_height ? (row % 2 == 0 ? near - 1 : near + 1) : row;
    if (far < 0 || far >= height) far = near;
    const uint8_t *near_row = planes->data[index] + near * planes->stride[index];
    const uint8_t *far_row = planes->data[index] + far * planes->stride[index];
    uint8_t *pixels = target + (ptrdiff_t)row * stride;
    (wide ? upsample_words : upsample_bytes)(near_row, far_row, width, sums, pixels, planes->width);
  }
  free(sums);
  return cheif_ok;
}

struct heif_error cheif_copy_planes(const struct cheif_planes *planes, struct heif_image **result) {
  int is_grey = planes->chroma == heif_chroma_monochrome;
  if ((int64_t)planes->width * planes->height > cheif_max_pixels || planes->bits != cheif_bits) return cheif_damaged;
  if (planes->width < cheif_min_width || planes->height < cheif_min_height) return cheif_damaged;
  if (!cheif_first.is_known) cheif_first = (struct cheif_first){1, is_grey, planes->full_range};
  struct heif_image *image = NULL;
  struct heif_error error = cheif_libheif.heif_image_create_(
    planes->width, planes->height, is_grey ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
    is_grey ? heif_chroma_monochrome : heif_chroma_444, &image);
  if (error.code == heif_error_Ok) error = set_colour(planes, image);
  const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
  for (int index = 0; error.code == heif_error_Ok && index < (is_grey ? 1 : 3); index++) {
    error = cheif_libheif.heif_image_add_plane_(image, channels[index], planes->width, planes->height, planes->bits);
    if (error.code != heif_error_Ok) break;
    int stride = 0;
    uint8_t *target = cheif_libheif.heif_image_get_plane_(image, channels[index], &stride);
    if (target == NULL || planes->data[index] == NULL) {
      error = cheif_no_memory;
    } else if (index > 0 && planes->chroma != heif_chroma_444) {
      error = upsample(planes, index, target, stride);
    } else {
      size_t count = (size_t)planes->width * (planes->bits > 8 ? 2 : 1);
      for (int row = 0; row < planes->height; row++) {
        memcpy(target + (ptrdiff_t)row * stride, planes->data[index] + row * planes->stride[index], count);
      }
    }
  }
  if (error.code != heif_error_Ok && image != NULL) cheif_libheif.heif_image_release_(image);
  *result = error.code == heif_error_Ok ? image : NULL;
  return error;
}

/// The file as libheif reads it.
struct input {
  int descriptor, system_error;
  int64_t size, position;
};

static int64_t get_position(void *userdata) { return ((struct input *)userdata)->position; }

static int seek_to(int64_t position, void *userdata) {
  struct input *input = userdata;
  if (position < 0 || position > input->size) return 1;
  input->position = position;
  return 0;
}

static int read_bytes(void *bytes, size_t count, void *userdata) {
  struct input *input = userdata;
  for (size_t done = 0; done < count;) {
    ssize_t read = pread(input->descriptor, (char *)bytes + done, count - done, input->position);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) input->system_error = errno;
    if (read <= 0) return 1;
    done += (size_t)read;
    input->position += read;
  }
  return 0;
}

static enum heif_reader_grow_status wait_for_size(int64_t size, void *userdata) {
  return size <= ((struct input *)userdata)->size ? heif_reader_grow_status_size_reached
                                                  : heif_reader_grow_status_size_beyond_eof;
}

static const struct heif_reader reader = {
  .reader_api_version = 1,
  .get_position = get_position,
  .read = read_bytes,
  .seek = seek_to,
  .wait_for_file_size = wait_for_size,
};

struct cheif_picture {
  struct input input;
  struct heif_context *context;
  struct heif_image_handle *handle;
  struct heif_image *image;
  const uint8_t *plane;
  int stride, bits, premultiplied;
  // Whether it is grey with levels from 16 to 235 of 8 bits, or from the same part of more.
  int limited;
  // Whether samples are stored as 16 bits, and whether they are asked for as such.
  int wide, deep;
};

enum cheif_failure cheif_failure_of(struct heif_error error, int system_error) {
  if (system_error != 0) {
    errno = system_error;
    return CHEIF_IO;
  }
  switch (error.code) {
    case heif_error_Ok: return CHEIF_OK;
    case heif_error_Memory_allocation_error: return CHEIF_NO_MEMORY;
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature: return CHEIF_UNSUPPORTED;
    default: return CHEIF_INVALID;
  }
}

/// Whether a decoded picture is grey and its levels have the limited range. What the file says of the range precedes what the coded
/// picture says (ISO/IEC 14496-12, ColourInformationBox), unless libheif does not know the colours of the file.
static int has_limited_levels(const cheif_picture *picture) {
  if (!cheif_first.is_known || !cheif_first.is_grey) return 0;
  struct heif_color_profile_nclx *profile = NULL;
  struct heif_error error = cheif_libheif.heif_image_handle_get_nclx_color_profile_(picture->handle, &profile);
  int full_range = error.code == heif_error_Ok && profile != NULL ? profile->full_range_flag : cheif_first.full_range;
  // There may be one in spite of an error.
  if (profile != NULL) cheif_libheif.heif_nclx_color_profile_free_(profile);
  return !full_range;
}

static enum cheif_failure decode(cheif_picture *picture) {
  picture->context = cheif_libheif.heif_context_alloc_();
  if (picture->context == NULL) return CHEIF_NO_MEMORY;
  cheif_libheif.heif_context_set_max_decoding_threads_(picture->context, 0);
  // The caller has checked the size.
  cheif_libheif.heif_context_set_maximum_image_size_limit_(picture->context, 1 << 20);
  struct heif_error error =
    cheif_libheif.heif_context_read_from_reader_(picture->context, &reader, &picture->input, NULL);
  if (error.code == heif_error_Ok) {
    error = cheif_libheif.heif_context_get_primary_image_handle_(picture->context, &picture->handle);
  }
  if (error.code == heif_error_Ok) {
    picture->wide = cheif_libheif.heif_image_handle_get_luma_bits_per_pixel_(picture->handle) > 8;
    enum heif_chroma chroma = picture->wide ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA;
    error =
      cheif_libheif.heif_decode_image_(picture->handle, &picture->image, heif_colorspace_RGB, chroma, NULL);
  }
  if (error.code != heif_error_Ok) return cheif_failure_of(error, picture->input.system_error);
  picture->premultiplied = cheif_libheif.heif_image_handle_is_premultiplied_alpha_(picture->handle);
  picture->bits = cheif_libheif.heif_image_get_bits_per_pixel_range_(picture->image, heif_channel_interleaved);
  picture->plane =
    cheif_libheif.heif_image_get_plane_readonly_(picture->image, heif_channel_interleaved, &picture->stride);
  // libheif makes grey samples colours without regard to their range.
  picture->limited = has_limited_levels(picture);
  int valid = picture->bits <= 16 && (picture->wide ? picture->bits >= 8 : picture->bits == 8);
  return picture->plane != NULL && valid ? CHEIF_OK : CHEIF_UNSUPPORTED;
}

cheif_picture *cheif_decode(
  int descriptor, int64_t size, int64_t max_pixels, int min_width, int min_height, int bits, enum cheif_failure *failure
) {
  cheif_picture *picture = calloc(1, sizeof *picture);
  *failure = picture == NULL ? CHEIF_NO_MEMORY : CHEIF_OK;
  if (picture == NULL) return NULL;
  picture->input = (struct input){.descriptor = descriptor, .size = size};
  picture->deep = bits > 8;
  cheif_max_pixels = max_pixels;
  cheif_min_width = min_width;
  cheif_min_height = min_height;
  cheif_bits = bits;
  cheif_first = (struct cheif_first){0};
  *failure = decode(picture);
  if (*failure == CHEIF_OK) return picture;
  int error = errno;
  cheif_close(picture);
  errno = error;
  return NULL;
}

int cheif_width(const cheif_picture *picture) {
  return cheif_libheif.heif_image_get_width_(picture->image, heif_channel_interleaved);
}

int cheif_height(const cheif_picture *picture) {
  return cheif_libheif.heif_image_get_height_(picture->image, heif_channel_interleaved);
}

/// A colour without its factor alpha, rounded.
static uint32_t divided(uint32_t value, uint32_t alpha, uint32_t maximum) {
  if (alpha == 0) return 0;
  uint64_t result = ((uint64_t)value * maximum + alpha / 2) / alpha;
  return result < maximum ? (uint32_t)result : maximum;
}

/// The level of a picture of limited range, in the full one (ITU-T H.273 § 8.3), rounded.
static uint32_t level(const cheif_picture *picture, uint32_t value, uint32_t maximum) {
  uint32_t black = 16u << (picture->bits - 8), range = 219u << (picture->bits - 8);
  if (value <= black) return 0;
  uint64_t result = ((uint64_t)(value - black) * maximum + range / 2) / range;
  return result < maximum ? (uint32_t)result : maximum;
}

void cheif_copy_row(const cheif_picture *picture, int row, void *pixels) {
  const uint8_t *bytes = picture->plane + (ptrdiff_t)row * picture->stride;
  const uint16_t *words = (const uint16_t *)(const void *)bytes;
  size_t samples = 4 * (size_t)cheif_width(picture);
  uint32_t maximum = (1u << picture->bits) - 1, wanted = picture->deep ? 65535 : 255;
  if (!picture->wide && !picture->deep && !picture->premultiplied && !picture->limited) {
    memcpy(pixels, bytes, samples);
    return;
  }
  for (size_t index = 0; index < samples; index++) {
    uint32_t value = picture->wide ? words[index] : bytes[index];
    if (value > maximum) value = maximum;
    if (picture->limited && (index & 3) != 3) value = level(picture, value, maximum);
    if (picture->premultiplied && (index & 3) != 3) {
      uint32_t alpha = picture->wide ? words[index | 3] : bytes[index | 3];
      value = divided(value, alpha, maximum);
    }
    value = (value * wanted + maximum / 2) / maximum;
    if (picture->deep) {
      ((uint16_t *)pixels)[index] = (uint16_t)value;
    } else {
      ((uint8_t *)pixels)[index] = (uint8_t)value;
    }
  }
}

void cheif_close(cheif_picture *picture) {
  if (picture == NULL) return;
  if (picture->image != NULL) cheif_libheif.heif_image_release_(picture->image);
  if (picture->handle != NULL) cheif_libheif.heif_image_handle_release_(picture->handle);
  if (picture->context != NULL) cheif_libheif.heif_context_free_(picture->context);
  free(picture);
}

#else  // Built without libheif's header.

int cheif_load(void) { return 0; }
const char *cheif_version(void) { return ""; }
cheif_picture *cheif_decode(
  int descriptor, int64_t size, int64_t max_pixels, int min_width, int min_height, int bits, enum cheif_failure *failure
) {
  (void)descriptor, (void)size, (void)max_pixels, (void)min_width, (void)min_height, (void)bits;
  *failure = CHEIF_UNSUPPORTED;
  return NULL;
}
int cheif_width(const cheif_picture *picture) { return (void)picture, 0; }
int cheif_height(const cheif_picture *picture) { return (void)picture, 0; }
void cheif_copy_row(const cheif_picture *picture, int row, void *pixels) { (void)picture, (void)row, (void)pixels; }
void cheif_close(cheif_picture *picture) { (void)picture; }

#endif
