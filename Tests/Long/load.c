// Asks for one URL over groups of connections, each at a steady rate, and says how long the answers took.
//
//   load PORT URL SECONDS CONNECTIONS PER_SECOND [CONNECTIONS PER_SECOND]...
//
// Each connection of a group asks PER_SECOND times a second, the connections one after the other. A request that is due while the
// answer before it is still missing counts from when it was due: what is slow is not asked less. One thread that mostly waits, so that
// what is measured is the proxy, and not how two programs share a core. Prints for each group `COUNT P50 P99 MAX`, times in
// microseconds.
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
    struct group *group;
};

struct group {
    struct connection *all;
    size_t connections, sent, count, total;
    long step; // nanoseconds between two requests
    long *times;
};

static char request[1024];
static size_t request_length;

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
    struct group *g = c->group;
    if (g->count == g->total) fail("more answers than requests");
    g->times[g->count++] = now() - c->due;
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

static void prepare(struct group *g, size_t connections, size_t rate, size_t seconds) {
    *g = (struct group){calloc(connections, sizeof *g->all), connections, 0, 0, connections * rate * seconds,
                        1000000000L / (long)(connections * rate), calloc(connections * rate * seconds, sizeof *g->times)};
}

static void open_all(struct group *g, const struct sockaddr_in *address, int epoll) {
    for (size_t i = 0; i < g->connections; i++) {
        struct connection *c = &g->all[i];
        int one = 1;
        c->group = g;
        c->socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(c->socket, (const struct sockaddr *)address, sizeof *address)) fail("connect");
        setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(epoll, EPOLL_CTL_ADD, c->socket, &event);
    }
}

// Asks once where that is due. Returns how many nanoseconds remain until the next request is.
static long ask_when_due(struct group *g, long start) {
    if (g->sent == g->total) return 1000000000;
    long due = start + (long)g->sent * g->step, wait = due - now();
    if (wait > 0) return wait;
    struct connection *c = &g->all[g->sent % g->connections];
    if (c->due && c->next) return 1000000; // two behind: it answers too slowly to keep the rate
    g->sent++;
    if (c->due) c->next = due;
    else ask(c, now());
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 6 || argc % 2) return fprintf(stderr, "load PORT URL SECONDS CONNECTIONS PER_SECOND ...\n"), 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", argv[2]);
    int epoll = epoll_create1(0), count = (argc - 4) / 2, under_way = count;
    struct group *groups = calloc(count, sizeof *groups);
    prctl(PR_SET_TIMERSLACK, 1000);
    for (int i = 0; i < count; i++) {
        prepare(&groups[i], atoi(argv[4 + 2 * i]), atoi(argv[5 + 2 * i]), atoi(argv[3]));
        open_all(&groups[i], &address, epoll);
    }
    long start = now();
    while (under_way) {
        long wait = 1000000000;
        for (int i = 0; i < count; i++) {
            long until = ask_when_due(&groups[i], start);
            if (until < wait) wait = until;
        }
        struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
        struct epoll_event events[256];
        int ready = epoll_pwait2(epoll, events, 256, &timeout, NULL);
        for (int i = 0; i < ready; i++) take(events[i].data.ptr);
        under_way = 0;
        for (int i = 0; i < count; i++) under_way += groups[i].count < groups[i].total;
        if (now() - start > (atol(argv[3]) + 300) * 1000000000L) fail("answers are missing");
    }
    for (struct group *g = groups; g < groups + count; g++) {
        qsort(g->times, g->count, sizeof *g->times, ascending);
        printf("%zu %.1f %.1f %.1f\n", g->count, g->times[g->count / 2] / 1e3, g->times[g->count * 99 / 100] / 1e3,
               g->times[g->count - 1] / 1e3);
    }
    return 0;
}
