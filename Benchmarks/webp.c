// What lossy WebP costs in libwebp alone.
//
//   webp QUALITY FILE…      decodes and encodes each picture once, into FILE.out
#include <stdio.h>
#include <stdlib.h>
#include <webp/decode.h>
#include <webp/encode.h>

static void fail(const char *name) {
  fprintf(stderr, "webp: %s\n", name);
  exit(65);
}

static void recode(const char *name, float quality) {
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  FILE *source = fopen(name, "rb"), *result = fopen(out, "wb");
  if (source == NULL || result == NULL) fail(name);
  fseek(source, 0, SEEK_END);
  size_t length = ftell(source);
  rewind(source);
  unsigned char *bytes = malloc(length);
  if (fread(bytes, 1, length, source) != length) fail(name);
  WebPPicture picture;
  WebPConfig config;
  WebPMemoryWriter writer;
  if (!WebPPictureInit(&picture) || !WebPConfigInit(&config)) fail(name);
  WebPMemoryWriterInit(&writer);
  unsigned char *pixels = WebPDecodeRGBA(bytes, length, &picture.width, &picture.height);
  config.quality = quality;
  picture.use_argb = 1;
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  if (pixels == NULL || !WebPPictureImportRGBX(&picture, pixels, 4 * picture.width)) fail(name);
  if (!WebPEncode(&config, &picture) || fwrite(writer.mem, 1, writer.size, result) != writer.size) fail(name);
  WebPMemoryWriterClear(&writer);
  WebPPictureFree(&picture);
  WebPFree(pixels);
  free(bytes);
  fclose(source);
  fclose(result);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  for (int i = 2; i < argc; i++) recode(argv[i], atof(argv[1]));
  return 0;
}
