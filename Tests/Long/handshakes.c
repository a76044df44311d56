// Many clients that each open a tunnel, make a full TLS handshake in it and ask for one URL; or that stop in the midst of that handshake.
//
//   handshakes PORT HOST:PORT PATH ROOT.pem COUNT          asks, and prints `DONE FAILED P50 P99 MAX` in microseconds from the first connect on
//   handshakes PORT HOST:PORT PATH ROOT.pem COUNT wait     the same, but prints `open COUNT` when all tunnels are there, and counts from the
//                                                          line on which all begin their handshakes
//   handshakes PORT HOST:PORT PATH ROOT.pem COUNT stop     sends its ClientHello and no more; prints `held COUNT`, and, when the proxy has
//                                                          ended all of them, `ended COUNT FIRST LAST`
//
// All connect at once. A certificate that ROOT.pem has not certified for HOST is a failure, as is any answer but 200 with its whole body.
// One thread.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum step { CONNECTING, TUNNEL, OPEN, HANDSHAKE, RESPONSE, HELD, ENDED };

struct client {
    int socket;
    enum step step;
    SSL *tls;
    size_t received, length; // of the response; `length` is 0 until its head is there
    char head[2048];
};

static const char *authority, *path;
static char host[256], request[1024];
static int epoll, waits, stops;
static size_t count, running, done, failed, opened, held;
static struct client *all;
static long *times, begun;
static SSL_CTX *context;

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void end(struct client *c, const char *fault) {
    if (fault && failed++ < 3) fprintf(stderr, "%s\n", fault);
    if (!fault) times[done++] = now() - begun;
    if (c->tls) SSL_free(c->tls);
    close(c->socket);
    c->step = ENDED, running--;
}

static void shake_hands(struct client *c) {
    int result = SSL_connect(c->tls);
    if (result == 1) {
        char text[1200];
        int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, authority);
        c->step = RESPONSE, c->received = 0;
        if (SSL_write(c->tls, text, length) != length) end(c, "the request could not be written");
    } else if (SSL_get_error(c->tls, result) != SSL_ERROR_WANT_READ) {
        end(c, X509_verify_cert_error_string(SSL_get_verify_result(c->tls)));
    } else if (stops) {
        c->step = HELD;
        if (++held == count) printf("held %zu\n", held), fflush(stdout); // On a slow machine the first have ended by then.
    }
}

// The head of the answer to CONNECT, and nothing behind it: the proxy speaks first in no TLS.
static void take_tunnel(struct client *c) {
    ssize_t got = recv(c->socket, c->head + c->received, sizeof c->head - 1 - c->received, 0);
    if (got <= 0) return end(c, "closed before the tunnel was there");
    c->received += got, c->head[c->received] = 0;
    if (!strstr(c->head, "\r\n\r\n")) return;
    if (strncmp(c->head, "HTTP/1.1 200 ", 13)) return end(c, "CONNECT was not answered with 200");
    c->tls = SSL_new(context);
    if (!c->tls || SSL_set_fd(c->tls, c->socket) != 1 || SSL_set_tlsext_host_name(c->tls, host) != 1) fail("TLS");
    if (SSL_set1_host(c->tls, host) != 1) fail("TLS");
    if (stops) SSL_set0_rbio(c->tls, BIO_new(BIO_s_mem())); // It reads nothing, also where the proxy answers at once.
    c->step = waits ? OPEN : HANDSHAKE;
    if (!waits) return shake_hands(c);
    if (++opened < running) return;
    printf("open %zu\n", opened), fflush(stdout);
    getchar();
    begun = now();
    for (struct client *one = all; one < all + count; one++)
        if (one->step == OPEN) one->step = HANDSHAKE, shake_hands(one);
}

static void take_response(struct client *c) {
    static char rest[65536];
    for (;;) {
        char *into = c->length ? rest : c->head + c->received;
        int room = c->length ? sizeof rest : sizeof c->head - 1 - c->received;
        int got = SSL_read(c->tls, into, room);
        if (got <= 0) {
            if (SSL_get_error(c->tls, got) != SSL_ERROR_WANT_READ) end(c, "closed within the response");
            return;
        }
        c->received += got;
        if (!c->length) {
            c->head[c->received] = 0;
            char *body = strstr(c->head, "\r\n\r\n"), *field = strcasestr(c->head, "\r\ncontent-length:");
            if (!body) continue;
            if (strncmp(c->head, "HTTP/1.1 200 ", 13) || !field) return end(c, "another answer than 200 with its length");
            c->length = body + 4 - c->head + strtoul(field + 17, NULL, 10);
        }
        if (c->received >= c->length) return end(c, NULL);
    }
}

static void step(struct client *c) {
    char bytes[4096];
    switch (c->step) {
    case CONNECTING:
        if (send(c->socket, request, strlen(request), MSG_NOSIGNAL) < 0) return end(c, "it could not connect");
        c->step = TUNNEL;
        epoll_ctl(epoll, EPOLL_CTL_MOD, c->socket, &(struct epoll_event){.events = EPOLLIN, .data.ptr = c});
        return;
    case TUNNEL: return take_tunnel(c);
    case OPEN: return end(c, "closed before its handshake");
    case HANDSHAKE: return shake_hands(c);
    case RESPONSE: return take_response(c);
    case HELD: { // What the server says of its handshake is not looked at.
        ssize_t got = recv(c->socket, bytes, sizeof bytes, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN)) end(c, NULL);
        return;
    }
    case ENDED: return;
    }
}

static int ascending(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 6) return fprintf(stderr, "handshakes PORT HOST:PORT PATH ROOT.pem COUNT [wait|stop]\n"), 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    authority = argv[2], path = argv[3], count = running = atoi(argv[5]);
    waits = argc > 6 && !strcmp(argv[6], "wait"), stops = argc > 6 && !strcmp(argv[6], "stop");
    signal(SIGPIPE, SIG_IGN);
    snprintf(host, sizeof host, "%.*s", (int)strcspn(authority, ":"), authority);
    snprintf(request, sizeof request, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", authority, authority);
    context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_locations(context, argv[4], NULL) != 1) fail("the root");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    epoll = epoll_create1(0), times = calloc(count, sizeof *times);
    all = calloc(count, sizeof *all);
    begun = now();
    for (struct client *c = all; c < all + count; c++) {
        c->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (c->socket < 0) fail("socket");
        if (connect(c->socket, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) fail("connect");
        epoll_ctl(epoll, EPOLL_CTL_ADD, c->socket, &(struct epoll_event){.events = EPOLLOUT, .data.ptr = c});
    }
    while (running) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 1000);
        for (int i = 0; i < ready; i++) step(events[i].data.ptr);
        if (now() - begun > 600 * 1000000000L) fprintf(stderr, "%zu have not ended\n", running), exit(1);
    }
    qsort(times, done, sizeof *times, ascending);
    if (!done) return fprintf(stderr, "nobody was served\n"), 1;
    if (stops) printf("ended %zu %.0f %.0f\n", done, times[0] / 1e3, times[done - 1] / 1e3);
    else printf("%zu %zu %.0f %.0f %.0f\n", done, failed, times[done / 2] / 1e3, times[done * 99 / 100] / 1e3, times[done - 1] / 1e3);
    return failed > 0;
}
