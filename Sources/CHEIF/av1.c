#if __has_include(<libheif/heif.h>) && __has_include(<libde265/de265.h>) && __has_include(<dav1d/dav1d.h>)
#include "decoders.h"

#include <dav1d/dav1d.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number) #number
#define NUMBER(number) TEXT(number)

#define FUNCTIONS(use) \
  use(dav1d_default_settings) use(dav1d_open) use(dav1d_close) use(dav1d_data_create) use(dav1d_data_unref) \
  use(dav1d_send_data) use(dav1d_get_picture) use(dav1d_picture_unref)

#define DECLARE(function) __typeof__(&function) function##_;
static struct {
  FUNCTIONS(DECLARE)
} libdav1d;

struct decoder {
  Dav1dContext *context;
  Dav1dData data;
};

static const char *name(void) { return "libdav1d with one thread"; }

static int priority(enum heif_compression_format format) {
  return format == heif_compression_AV1 ? 1000 : 0;
}

static struct heif_error failure(int error) {
  return error == DAV1D_ERR(ENOMEM) ? cheif_no_memory : cheif_damaged;
}

static void destroy(void *self) {
  struct decoder *decoder = self;
  if (decoder->data.ref != NULL) libdav1d.dav1d_data_unref_(&decoder->data);
  if (decoder->context != NULL) libdav1d.dav1d_close_(&decoder->context);
  free(decoder);
}

static struct heif_error create(void **self) {
  struct decoder *decoder = calloc(1, sizeof *decoder);
  if (decoder == NULL) return cheif_no_memory;
  Dav1dSettings settings;
  libdav1d.dav1d_default_settings_(&settings);
  settings.n_threads = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = (unsigned)(cheif_max_pixels < UINT32_MAX ? cheif_max_pixels : UINT32_MAX);
  int error = libdav1d.dav1d_open_(&decoder->context, &settings);
  if (error == 0) {
    *self = decoder;
    return cheif_ok;
  }
  destroy(decoder);
  return failure(error);
}

static struct heif_error push(void *self, const void *bytes, size_t size) {
  struct decoder *decoder = self;
  Dav1dData more;
  size_t before = decoder->data.sz;
  uint8_t *target = libdav1d.dav1d_data_create_(&more, before + size);
  if (target == NULL) return cheif_no_memory;
  if (before > 0) memcpy(target, decoder->data.data, before);
  if (decoder->data.ref != NULL) libdav1d.dav1d_data_unref_(&decoder->data);
  memcpy(target + before, bytes, size);
  decoder->data = more;
  return cheif_ok;
}

static struct heif_error copy(const Dav1dPicture *picture, struct heif_image **result) {
  struct cheif_planes planes = {
    .width = picture->p.w,
    .height = picture->p.h,
    .bits = picture->p.bpc,
    .primaries = (int)picture->seq_hdr->pri,
    .transfer = (int)picture->seq_hdr->trc,
    .matrix = (int)picture->seq_hdr->mtrx,
    .full_range = picture->seq_hdr->color_range,
    .data = {picture->data[0], picture->data[1], picture->data[2]},
    .stride = {picture->stride[0], picture->stride[1], picture->stride[1]},
  };
  switch (picture->p.layout) {
    case DAV1D_PIXEL_LAYOUT_I420: planes.chroma = heif_chroma_420; break;
    case DAV1D_PIXEL_LAYOUT_I422: planes.chroma = heif_chroma_422; break;
    case DAV1D_PIXEL_LAYOUT_I444: planes.chroma = heif_chroma_444; break;
    default: planes.chroma = heif_chroma_monochrome;
  }
  return cheif_copy_planes(&planes, result);
}

static struct heif_error decode(void *self, struct heif_image **result) {
  struct decoder *decoder = self;
  Dav1dPicture picture = {0};
  int error = DAV1D_ERR(EAGAIN);
  while (error == DAV1D_ERR(EAGAIN)) {
    int sent = decoder->data.sz > 0 ? libdav1d.dav1d_send_data_(decoder->context, &decoder->data) : 0;
    if (sent != 0 && sent != DAV1D_ERR(EAGAIN)) return failure(sent);
    int ended = decoder->data.sz == 0;
    error = libdav1d.dav1d_get_picture_(decoder->context, &picture);
    if (ended && error != 0) return failure(error);
  }
  if (error != 0) return failure(error);
  struct heif_error copied = copy(&picture, result);
  libdav1d.dav1d_picture_unref_(&picture);
  return copied;
}

static const struct heif_decoder_plugin plugin = {
  .plugin_api_version = 3,
  .get_plugin_name = name,
  .does_support_format = priority,
  .new_decoder = create,
  .free_decoder = destroy,
  .push_data = push,
  .decode_image = decode,
  .id_name = "darkroom-libdav1d",
};

const struct heif_decoder_plugin *cheif_av1_decoder(void) {
#define NAME(function) #function,
  static const char *const names[] = {FUNCTIONS(NAME) NULL};
  return cloader_find("libdav1d.so." NUMBER(DAV1D_API_VERSION_MAJOR), names, (void **)&libdav1d) ? &plugin : NULL;
}
#endif
