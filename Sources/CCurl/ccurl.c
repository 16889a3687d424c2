#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

// The functions of libcurl are defined here with their own names: hidden, so that libcurl itself does not call these.
#pragma GCC visibility push(hidden)
#define CURL_DISABLE_TYPECHECK
#include "ccurl.h"
#pragma GCC visibility pop

#include "cloader.h"

/// The library of libcurl 7.87 and later. (Earlier versions have the same name and lack options that are set, such as
/// CURLOPT_QUICK_EXIT.)
#define LIBRARY "libcurl.so.4"

// Each function that is used, but for the variadic ones: type, name, parameters, arguments.
#define FUNCTIONS(F) \
  F(CURL *, curl_easy_init, (void), ()) \
  F(void, curl_easy_cleanup, (CURL *easy), (easy)) \
  F(CURLcode, curl_easy_pause, (CURL *easy, int bits), (easy, bits)) \
  F(const char *, curl_easy_strerror, (CURLcode code), (code)) \
  F(void, curl_free, (void *block), (block)) \
  F(time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused)) \
  F(CURLcode, curl_global_init, (long flags), (flags)) \
  F(curl_mime *, curl_mime_init, (CURL *easy), (easy)) \
  F(void, curl_mime_free, (curl_mime *mime), (mime)) \
  F(curl_mimepart *, curl_mime_addpart, (curl_mime *mime), (mime)) \
  F(CURLcode, curl_mime_name, (curl_mimepart *part, const char *name), (part, name)) \
  F(CURLcode, curl_mime_filename, (curl_mimepart *part, const char *name), (part, name)) \
  F(CURLcode, curl_mime_type, (curl_mimepart *part, const char *type), (part, type)) \
  F(CURLcode, curl_mime_data, (curl_mimepart *part, const char *data, size_t size), (part, data, size)) \
  F(CURLcode, curl_mime_data_cb, \
    (curl_mimepart *part, curl_off_t size, curl_read_callback read, curl_seek_callback seek, \
     curl_free_callback release, void *context), \
    (part, size, read, seek, release, context)) \
  F(CURLM *, curl_multi_init, (void), ()) \
  F(CURLMcode, curl_multi_cleanup, (CURLM *multi), (multi)) \
  F(CURLMcode, curl_multi_add_handle, (CURLM *multi, CURL *easy), (multi, easy)) \
  F(CURLMcode, curl_multi_remove_handle, (CURLM *multi, CURL *easy), (multi, easy)) \
  F(CURLMcode, curl_multi_perform, (CURLM *multi, int *running), (multi, running)) \
  F(CURLMsg *, curl_multi_info_read, (CURLM *multi, int *left), (multi, left)) \
  F(CURLMcode, curl_multi_poll, \
    (CURLM *multi, struct curl_waitfd others[], unsigned count, int milliseconds, int *ready), \
    (multi, others, count, milliseconds, ready)) \
  F(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *text), (list, text)) \
  F(void, curl_slist_free_all, (struct curl_slist *list), (list)) \
  F(CURLU *, curl_url, (void), ()) \
  F(void, curl_url_cleanup, (CURLU *url), (url)) \
  F(CURLUcode, curl_url_get, (CURLU *url, CURLUPart part, char **text, unsigned flags), (url, part, text, flags)) \
  F(CURLUcode, curl_url_set, (CURLU *url, CURLUPart part, const char *text, unsigned flags), (url, part, text, flags)) \
  F(const char *, curl_url_strerror, (CURLUcode code), (code)) \
  F(char *, curl_version, (void), ())

#define POINTER(type, name, parameters, arguments) type(*name) parameters;
#define NAME(type, name, parameters, arguments) #name,

static struct {
  FUNCTIONS(POINTER)
  CURLcode (*curl_easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*curl_easy_getinfo)(CURL *, CURLINFO, ...);
  CURLMcode (*curl_multi_setopt)(CURLM *, CURLMoption, ...);
} functions;

// Finds the library's functions. Returns why one of them or the library is missing; NULL when none is.
static const char *find(void **found) {
  static const char *const names[] = {
    FUNCTIONS(NAME) "curl_easy_setopt", "curl_easy_getinfo", "curl_multi_setopt", NULL,
  };
  if (cloader_find(LIBRARY, names, found)) return NULL;
  const char *why = dlerror();
  return why == NULL ? "the dynamic linker does not say why" : why;
}

const char *ccurl_trouble(void) {
  void *found[sizeof functions / sizeof(void *)];
  return find(found);
}

static void load(void) {
  const char *why = NULL;
  // Descriptors and memory may be short for a moment, and an upgrade of the package replaces the file.
  for (int attempt = 0; attempt < 50; attempt++) {
    why = find((void **)&functions);
    if (why == NULL) return;
    usleep(100 * 1000);
  }
  fprintf(stderr, "darkroom: %s cannot be loaded: %s\n", LIBRARY, why);
  _exit(EX_SOFTWARE);
}

static inline __typeof__(&functions) libcurl(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return &functions;
}

#define FORWARD(type, name, parameters, arguments) \
  type name parameters { return libcurl()->name arguments; }

FUNCTIONS(FORWARD)

CURLcode ccurl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
  return libcurl()->curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
  return libcurl()->curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
  return libcurl()->curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_easy_setopt_write(CURL *easy, CURLoption option, curl_write_callback value) {
  return libcurl()->curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_easy_setopt_opensocket(CURL *easy, curl_opensocket_callback value) {
  return libcurl()->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

CURLcode ccurl_easy_setopt_closesocket(CURL *easy, curl_closesocket_callback value) {
  return libcurl()->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

CURLcode ccurl_easy_setopt_debug(CURL *easy, curl_debug_callback value) {
  return libcurl()->curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

CURLcode ccurl_easy_setopt_prereq(CURL *easy, curl_prereq_callback value) {
  return libcurl()->curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

CURLcode ccurl_easy_getinfo_string(CURL *easy, CURLINFO info, const char **value) {
  return libcurl()->curl_easy_getinfo(easy, info, value);
}

CURLcode ccurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return libcurl()->curl_easy_getinfo(easy, info, value);
}

CURLcode ccurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
  return libcurl()->curl_easy_getinfo(easy, info, value);
}

CURLcode ccurl_easy_getinfo_tls(CURL *easy, struct curl_tlssessioninfo **value) {
  return libcurl()->curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, value);
}

CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return libcurl()->curl_multi_setopt(multi, option, value);
}

CURLcode ccurl_easy_setopt_tls_context(CURL *easy, curl_ssl_ctx_callback value) {
  return libcurl()->curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
