// What libcurl makes of the same that tls-floor does: CONNECT_ONLY through its multi interface in an epoll set, with a verify callback
// that verifies, and anchors that are loaded once; one request, and the end; so many times. Nothing of Larder is in it. Prints the CPU
// of one in microseconds.
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

static int set;
static long wait_at_most = -1;
static X509_STORE *anchors;

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static int verify(X509_STORE_CTX *context, void *argument) { return X509_verify_cert(context); }

static CURLcode prepare(CURL *easy, void *context, void *argument) {
    SSL_CTX_set1_cert_store(context, anchors);
    SSL_CTX_set_cert_verify_callback(context, verify, NULL);
    return CURLE_OK;
}

static int watch(CURL *easy, curl_socket_t descriptor, int what, void *a, void *b) {
    struct epoll_event event = {.data.fd = descriptor};
    if (what == CURL_POLL_REMOVE) return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL), 0;
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) < 0) epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
    return 0;
}

static int note_timer(CURLM *multi, long milliseconds, void *argument) { return wait_at_most = milliseconds, 0; }

static void connect_it(CURLM *multi, CURL *easy) {
    curl_multi_add_handle(multi, easy);
    for (int running, left;;) {
        struct epoll_event events[8];
        int count = wait_at_most == 0 ? 0 : epoll_wait(set, events, 8, (int)wait_at_most);
        if (count == 0) {
            wait_at_most = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < count; i++) {
            int bits = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, events[i].data.fd, bits, &running);
        }
        CURLMsg *message = curl_multi_info_read(multi, &left);
        if (message && message->msg == CURLMSG_DONE && message->data.result == CURLE_OK) return;
        if (message) exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const char *name = argv[1];
    int port = atoi(argv[2]), count = atoi(argv[3]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    SSL_CTX *loaded = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_locations(loaded, argv[4], NULL) != 1) return 1;
    anchors = SSL_CTX_get_cert_store(loaded);
    set = epoll_create1(EPOLL_CLOEXEC);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, note_timer);
    CURL *easy = curl_easy_init();
    char url[256], address[256], request[256], answer[16384];
    snprintf(url, sizeof url, "https://%s:%d/", name, port);
    snprintf(address, sizeof address, "%s:%d:127.0.0.1", name, port);
    int length = snprintf(request, sizeof request, "GET /pass/one HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", name);
    struct curl_slist *addresses = curl_slist_append(NULL, address);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, addresses);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    double before = cpu();
    for (int i = 0; i < count; i++) {
        connect_it(multi, easy);
        curl_socket_t descriptor;
        size_t got = 0;
        curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &descriptor);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
        epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
        epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
        if (curl_easy_send(easy, request, length, &got) != CURLE_OK || got != (size_t)length) return 1;
        for (CURLcode code; (code = curl_easy_recv(easy, answer, sizeof answer, &got)) == CURLE_AGAIN || got > 0;)
            if (code == CURLE_AGAIN) epoll_wait(set, &event, 1, -1);
        epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
        curl_multi_remove_handle(multi, easy);
    }
    printf("%.1f\n", (cpu() - before) / count);
    return 0;
}
