#pragma once
#include <curl/curl.h>

// libcurl is loaded when its first function is called: with the 25 libraries that it needs, linking takes longer than everything
// else that most commands do. Its functions have their own names. When it cannot be loaded, the program ends with a message.

/// Why libcurl cannot be loaded; NULL when it can.
const char *ccurl_trouble(void);

// Swift cannot call variadic C functions. One wrapper for each type of argument that Transfer passes.

/// An option that takes a `long`: variadic.
CURLcode ccurl_easy_setopt_long(CURL *easy, CURLoption option, long value);

/// An option that takes a string, which libcurl copies: variadic.
CURLcode ccurl_easy_setopt_string(CURL *easy, CURLoption option, const char *value);

/// An option that takes a pointer, which libcurl keeps: variadic.
CURLcode ccurl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value);

/// `CURLOPT_WRITEFUNCTION` and `CURLOPT_HEADERFUNCTION`: variadic.
CURLcode ccurl_easy_setopt_write(CURL *easy, CURLoption option, curl_write_callback value);

/// `CURLOPT_OPENSOCKETFUNCTION`: variadic.
CURLcode ccurl_easy_setopt_opensocket(CURL *easy, curl_opensocket_callback value);

/// `CURLOPT_CLOSESOCKETFUNCTION`: variadic.
CURLcode ccurl_easy_setopt_closesocket(CURL *easy, curl_closesocket_callback value);

/// `CURLOPT_DEBUGFUNCTION`: variadic.
CURLcode ccurl_easy_setopt_debug(CURL *easy, curl_debug_callback value);

/// `CURLOPT_PREREQFUNCTION`: variadic.
CURLcode ccurl_easy_setopt_prereq(CURL *easy, curl_prereq_callback value);

/// An info value that is a string: variadic.
CURLcode ccurl_easy_getinfo_string(CURL *easy, CURLINFO info, const char **value);

/// An info value that is a `curl_off_t`: variadic.
CURLcode ccurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value);

/// An info value that is a `long`: variadic.
CURLcode ccurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value);

/// `CURLINFO_TLS_SSL_PTR`: variadic.
CURLcode ccurl_easy_getinfo_tls(CURL *easy, struct curl_tlssessioninfo **value);

/// An option of a multi handle that takes a `long`: variadic.
CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value);

/// `CURLOPT_SSL_CTX_FUNCTION`: variadic.
CURLcode ccurl_easy_setopt_tls_context(CURL *easy, curl_ssl_ctx_callback value);
