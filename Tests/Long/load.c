// Asks for one URL over many connections at a steady rate, and says how long the answers took.
//
//   load PORT URL CONNECTIONS PER_SECOND SECONDS
//
// Each connection asks PER_SECOND times a second, the connections one after the other. A request that is due while the answer before
// it is still missing counts from when it was due: what is slow is not asked less. One thread that mostly waits, so that what is
// measured is the proxy. Prints `COUNT P50 P99 MAX`, times in microseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    int socket;
    long due;        // of the request under way, 0 when there is none
    long next;       // due while another was under way, 0 when there is none
    size_t received; // of the head, kept in `head`; of everything once `length` is known
    size_t length;   // of the whole response, 0 until its head is there
    char head[2048];
};

static char request[1024];
static size_t request_length;
static long *times;
static size_t count, capacity;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void ask(struct connection *c, long due) {
    c->due = due, c->received = 0, c->length = 0;
    if (send(c->socket, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) fail("send");
}

static void complete(struct connection *c) {
    if (count == capacity) fail("more answers than requests");
    times[count++] = now() - c->due;
    c->due = 0;
    if (c->next) {
        long due = c->next;
        c->next = 0;
        ask(c, due);
    }
}

static void take(struct connection *c) {
    char rest[65536];
    char *into = c->length ? rest : c->head + c->received;
    size_t room = c->length ? sizeof rest : sizeof c->head - 1 - c->received;
    ssize_t got = recv(c->socket, into, room, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("closed by the proxy");
    c->received += got;
    if (!c->length) {
        c->head[c->received] = 0;
        char *end = strstr(c->head, "\r\n\r\n");
        if (!end) return;
        if (strncmp(c->head, "HTTP/1.1 200 ", 13)) fail("another status than 200");
        char *field = strcasestr(c->head, "\r\ncontent-length:");
        if (!field) fail("no Content-Length");
        c->length = end + 4 - c->head + strtoul(field + 17, NULL, 10);
    }
    if (c->received >= c->length) complete(c);
}

static int ascending(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 6) return fprintf(stderr, "load PORT URL CONNECTIONS PER_SECOND SECONDS\n"), 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t connections = atoi(argv[3]), total = connections * atoi(argv[4]) * atoi(argv[5]);
    long step = 1000000000L / (connections * atoi(argv[4]));
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", argv[2]);
    struct connection *all = calloc(connections, sizeof *all);
    times = calloc(capacity = total, sizeof *times);
    int epoll = epoll_create1(0), one = 1;
    prctl(PR_SET_TIMERSLACK, 1000);
    for (size_t i = 0; i < connections; i++) {
        all[i].socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(all[i].socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
        setsockopt(all[i].socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].socket, &event);
    }
    long start = now();
    for (size_t sent = 0; count < total;) {
        long due = start + (long)sent * step, wait = due - now();
        if (sent < total && wait <= 0) {
            struct connection *c = &all[sent++ % connections];
            if (c->due && c->next) sent--, wait = 1000000; // two behind: it answers too slowly to keep the rate
            else if (c->due) c->next = due;
            else ask(c, now());
        }
        if (sent == total) wait = 1000000000;
        struct timespec timeout = {.tv_sec = wait > 0 ? wait / 1000000000 : 0, .tv_nsec = wait > 0 ? wait % 1000000000 : 0};
        struct epoll_event events[256];
        int ready = epoll_pwait2(epoll, events, 256, &timeout, NULL);
        for (int i = 0; i < ready; i++) take(events[i].data.ptr);
        if (now() - start > (atol(argv[5]) + 10) * 1000000000L) fail("answers are missing");
    }
    qsort(times, count, sizeof *times, ascending);
    printf("%zu %.1f %.1f %.1f\n", count, times[count / 2] / 1e3, times[count * 99 / 100] / 1e3, times[count - 1] / 1e3);
    return 0;
}
