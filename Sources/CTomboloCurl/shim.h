#pragma once
#include <curl/curl.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one wrapper a type of argument.
static inline CURLcode tombolo_curl_set_long(CURL *h, CURLoption option, long value) {
  return curl_easy_setopt(h, option, value);
}
static inline CURLcode tombolo_curl_set_size(CURL *h, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(h, option, value);
}
static inline CURLcode tombolo_curl_set_text(CURL *h, CURLoption option, const char *value) {
  return curl_easy_setopt(h, option, value);
}
static inline CURLcode tombolo_curl_set_pointer(CURL *h, CURLoption option, void *value) {
  return curl_easy_setopt(h, option, value);
}
static inline CURLcode tombolo_curl_set_list(CURL *h, struct curl_slist *headers) {
  return curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
}
typedef size_t (*tombolo_curl_receiver)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode tombolo_curl_set_receiver(CURL *h, CURLoption option, tombolo_curl_receiver receiver) {
  return curl_easy_setopt(h, option, receiver);
}
static inline CURLcode tombolo_curl_get_long(CURL *h, CURLINFO info, long *value) {
  return curl_easy_getinfo(h, info, value);
}
