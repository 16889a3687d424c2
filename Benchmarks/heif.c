// What HEIC to JPEG, and AVIF to AVIF, cost in libheif, its decoders and encoders, and libjpeg-turbo alone, each in one thread.
//
//   heif jpg|avif QUALITY FILE…      decodes each picture, of 8 bits, and encodes it in 4:2:0 into FILE.out
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <libheif/heif.h>

static void check(struct heif_error error, const char *name) {
  if (error.code == heif_error_Ok) return;
  fprintf(stderr, "heif: %s: %s\n", name, error.message);
  exit(65);
}

static void write_jpeg(const struct heif_image *image, int quality, const char *out) {
  int stride, width = heif_image_get_width(image, heif_channel_interleaved);
  int height = heif_image_get_height(image, heif_channel_interleaved);
  const unsigned char *pixels = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
  struct jpeg_compress_struct codec;
  struct jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  FILE *file = fopen(out, "wb");
  jpeg_stdio_dest(&codec, file);
  codec.image_width = width, codec.image_height = height, codec.input_components = 3, codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  for (int row = 0; row < height; row++) {
    JSAMPROW line = (JSAMPROW)pixels + (size_t)row * stride;
    jpeg_write_scanlines(&codec, &line, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  fclose(file);
}

static void write_avif(const struct heif_image *image, int quality, const char *out) {
  struct heif_context *context = heif_context_alloc();
  struct heif_encoder *encoder;
  check(heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder), out);
  check(heif_encoder_set_lossy_quality(encoder, quality), out);
  check(heif_encoder_set_parameter_integer(encoder, "speed", 8), out);
  check(heif_encoder_set_parameter_integer(encoder, "threads", 1), out);
  check(heif_context_encode_image(context, image, encoder, NULL, NULL), out);
  check(heif_context_write_to_file(context, out), out);
  heif_encoder_release(encoder);
  heif_context_free(context);
}

int main(int argc, char **argv) {
  if (argc < 4) return 64;
  for (int i = 3; i < argc; i++) {
    char out[4096];
    snprintf(out, sizeof out, "%s.out", argv[i]);
    struct heif_context *context = heif_context_alloc();
    struct heif_image_handle *handle;
    struct heif_image *image;
    heif_context_set_max_decoding_threads(context, 0);
    check(heif_context_read_from_file(context, argv[i], NULL), argv[i]);
    check(heif_context_get_primary_image_handle(context, &handle), argv[i]);
    check(heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGB, NULL), argv[i]);
    (strcmp(argv[1], "jpg") == 0 ? write_jpeg : write_avif)(image, atoi(argv[2]), out);
    heif_image_release(image);
    heif_image_handle_release(handle);
    heif_context_free(context);
  }
  return 0;
}
