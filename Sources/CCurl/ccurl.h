#pragma once
#include <curl/curl.h>

// Swift cannot call variadic C functions. One wrapper for each type of argument that Transfer passes.

/// An option that takes a `long`: variadic.
static inline CURLcode ccurl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

/// An option that takes a string, which libcurl copies: variadic.
static inline CURLcode ccurl_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

/// An option that takes a pointer, which libcurl keeps: variadic.
static inline CURLcode ccurl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

/// `CURLOPT_WRITEFUNCTION` and `CURLOPT_HEADERFUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_write(CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

/// `CURLOPT_OPENSOCKETFUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_opensocket(CURL *easy, curl_opensocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

/// `CURLOPT_CLOSESOCKETFUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_closesocket(CURL *easy, curl_closesocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

/// `CURLOPT_DEBUGFUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_debug(CURL *easy, curl_debug_callback value) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

/// `CURLOPT_PREREQFUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_prereq(CURL *easy, curl_prereq_callback value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

/// An info value that is a string: variadic.
static inline CURLcode ccurl_easy_getinfo_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}

/// An info value that is a `curl_off_t`: variadic.
static inline CURLcode ccurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}

/// An info value that is a `long`: variadic.
static inline CURLcode ccurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

/// `CURLINFO_TLS_SSL_PTR`: variadic.
static inline CURLcode ccurl_easy_getinfo_tls(CURL *easy, struct curl_tlssessioninfo **value) {
  return curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, value);
}

/// An option of a multi handle that takes a `long`: variadic.
static inline CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// `CURLOPT_SSL_CTX_FUNCTION`: variadic.
static inline CURLcode ccurl_easy_setopt_tls_context(CURL *easy, curl_ssl_ctx_callback value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
