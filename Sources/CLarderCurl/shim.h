#pragma once
// curl's type checks are macros around its variadic functions. The functions below have typed parameters instead.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdint.h>

static inline CURLcode larder_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode larder_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode larder_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode larder_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode larder_curl_set_opensocket(CURL *easy, curl_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode larder_curl_set_closesocket(CURL *easy, curl_closesocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}
static inline CURLcode larder_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode larder_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode larder_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode larder_curl_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}
// Swift does not import these macros, because they contain casts.
static const long larder_curl_auth_basic_digest = CURLAUTH_BASIC | CURLAUTH_DIGEST;
static inline CURLMcode larder_curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode larder_curl_multi_set_socket(CURLM *multi, curl_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}
static inline CURLMcode larder_curl_multi_set_timer(CURLM *multi, curl_multi_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}
static inline CURLcode larder_curl_message_result(const CURLMsg *message) { return message->data.result; }
static inline const void *larder_curl_address(const struct curl_sockaddr *address) { return &address->addr; }
static inline CURLcode larder_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// Runs every transfer, whether or not libcurl has an event or a timer for it. The function is deprecated in favor of
// curl_multi_socket_action, which does not run the transfers that libcurl has set no timer for.
static inline CURLMcode larder_curl_multi_run_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}
