// What JPEG costs in libjpeg-turbo alone.
//
//   jpeg QUALITY FILE…      decodes and encodes each picture once, row by row, into FILE.out
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

static void recode(const char *name, int quality) {
  struct jpeg_decompress_struct reader;
  struct jpeg_compress_struct writer;
  struct jpeg_error_mgr errors;
  char out[4096];
  snprintf(out, sizeof out, "%s.out", name);
  FILE *source = fopen(name, "rb"), *result = fopen(out, "wb");
  if (source == NULL || result == NULL) exit(66);
  setvbuf(source, NULL, _IOFBF, 65536);
  setvbuf(result, NULL, _IOFBF, 65536);
  reader.err = writer.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&reader);
  jpeg_stdio_src(&reader, source);
  jpeg_read_header(&reader, TRUE);
  reader.out_color_space = JCS_EXT_RGBX;
  jpeg_start_decompress(&reader);
  jpeg_create_compress(&writer);
  jpeg_stdio_dest(&writer, result);
  writer.image_width = reader.output_width;
  writer.image_height = reader.output_height;
  writer.input_components = 4;
  writer.in_color_space = JCS_EXT_RGBX;
  jpeg_set_defaults(&writer);
  jpeg_set_quality(&writer, quality, TRUE);
  writer.dct_method = JDCT_IFAST;
  jpeg_start_compress(&writer, TRUE);
  JSAMPROW row = malloc((size_t)4 * reader.output_width);
  while (reader.output_scanline < reader.output_height) {
    jpeg_read_scanlines(&reader, &row, 1);
    jpeg_write_scanlines(&writer, &row, 1);
  }
  jpeg_finish_compress(&writer);
  jpeg_finish_decompress(&reader);
  jpeg_destroy_compress(&writer);
  jpeg_destroy_decompress(&reader);
  free(row);
  fclose(source);
  fclose(result);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  for (int i = 2; i < argc; i++) recode(argv[i], atoi(argv[1]));
  return 0;
}
