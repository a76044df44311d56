// The plain half of the soak test: an origin of small responses, and clients that ask a proxy for them as fast as they are answered.
//
//   soak origin PORT
//   soak ask PROXY_PORT ORIGIN_PORT SECONDS CONNECTIONS NEW_PER_MILLE PASSED_PER_MILLE NAMED
//
// The origin answers `/k/…` with 1 KiB that is fresh for a day, and `/n/…` with 1 KiB that must not be stored. Each client has one request
// outstanding: NEW_PER_MILLE of 1,000 name a URL that was never named before, PASSED_PER_MILLE are for `/n/…`, and the others repeat one of
// the latest 16,384. The first NAMED URLs were named by an earlier call. At its end `ask` prints `REQUESTS NEW FAILED`. One thread and one epoll set each.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY = 1024, LATEST = 16384, BUFFER = 8192 };

struct connection {
    int socket;
    size_t received;
    char buffer[BUFFER];
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void watch(int set, struct connection *c) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    int on = 1;
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (epoll_ctl(set, EPOLL_CTL_ADD, c->socket, &event) != 0) fail("epoll_ctl");
}

// Responses are far smaller than a socket's buffer, so that a short write means a peer that does not read.
static int say(int socket, const char *bytes, size_t count) {
    return send(socket, bytes, count, MSG_NOSIGNAL) == (ssize_t)count;
}

static char *end_of_head(struct connection *c) { return memmem(c->buffer, c->received, "\r\n\r\n", 4); }

// Answers each request that is there whole. 0 where the connection is over.
static int serve(struct connection *c) {
    ssize_t count = recv(c->socket, c->buffer + c->received, BUFFER - c->received, 0);
    if (count <= 0) return 0;
    c->received += count;
    for (char *end; (end = end_of_head(c)) != NULL;) {
        static char kept[BODY + 256], passed[BODY + 256];
        static size_t kept_length, passed_length;
        if (kept_length == 0) {
            const char *form = "HTTP/1.1 200 OK\r\nServer: soak\r\nContent-Type: text/plain\r\nCache-Control: %s\r\nContent-Length: %d\r\n\r\n";
            kept_length = sprintf(kept, form, "max-age=86400", BODY);
            passed_length = sprintf(passed, form, "no-store", BODY);
            memset(kept + kept_length, 'k', BODY), memset(passed + passed_length, 'n', BODY);
            kept_length += BODY, passed_length += BODY;
        }
        int is_passed = memmem(c->buffer, end - c->buffer, " /n/", 4) != NULL;
        if (!say(c->socket, is_passed ? passed : kept, is_passed ? passed_length : kept_length)) return 0;
        size_t used = end + 4 - c->buffer;
        memmove(c->buffer, c->buffer + used, c->received -= used);
    }
    return c->received < BUFFER;
}

static void origin(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = loopback(port);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0) fail("listen");
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event first = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &first);
    for (;;) {
        int ready = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            if (c == NULL) {
                int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (accepted < 0) continue;
                c = malloc(sizeof *c);
                c->socket = accepted, c->received = 0;
                watch(set, c);
            } else if (!serve(c)) {
                close(c->socket);
                free(c);
            }
        }
    }
}

static uint64_t state = 1, named, new_count, requests, failed;
static int origin_port, new_per_mille, passed_per_mille;

static uint64_t chance(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static int ask(struct connection *c) {
    char request[256];
    int choice = chance() % 1000;
    char kind = 'k';
    uint64_t number;
    if (choice < passed_per_mille) {
        kind = 'n', number = chance();
    } else if (choice < passed_per_mille + new_per_mille || named == 0) {
        number = named++, new_count++;
    } else {
        number = named - 1 - chance() % (named < LATEST ? named : LATEST);
    }
    int length = sprintf(
        request, "GET http://127.0.0.1:%d/%c/%llu HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n\r\n", origin_port, kind,
        (unsigned long long)number, origin_port);
    c->received = 0;
    return say(c->socket, request, length);
}

// 1 where the response is whole, 0 where more is to come, -1 where the connection is over.
static int receive(struct connection *c) {
    ssize_t count = recv(c->socket, c->buffer + c->received, BUFFER - c->received, 0);
    if (count <= 0) return -1;
    c->received += count;
    char *end = end_of_head(c);
    if (end == NULL) return c->received < BUFFER ? 0 : -1;
    *end = 0;
    char *length = strcasestr(c->buffer, "\r\nContent-Length:");
    size_t whole = end + 4 - c->buffer + (length ? strtoul(length + 17, NULL, 10) : 0);
    *end = '\r';
    if (c->received < whole) return 0;
    if (c->received > whole || strncmp(c->buffer, "HTTP/1.1 200", 12) != 0) failed++;
    return 1;
}

static void dial(int set, int port, struct connection *c) {
    struct sockaddr_in address = loopback(port);
    c->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    watch(set, c);
    if (!ask(c)) fail("send");
}

int main(int count, char **words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == 3 && strcmp(words[1], "origin") == 0) origin(atoi(words[2]));
    if (count != 9 || strcmp(words[1], "ask") != 0) {
        fputs("soak origin PORT | soak ask PROXY_PORT ORIGIN_PORT SECONDS CONNECTIONS NEW_PER_MILLE PASSED_PER_MILLE NAMED\n", stderr);
        return 2;
    }
    int proxy = atoi(words[2]), connections = atoi(words[5]), set = epoll_create1(EPOLL_CLOEXEC);
    origin_port = atoi(words[3]), new_per_mille = atoi(words[6]), passed_per_mille = atoi(words[7]), named = strtoull(words[8], NULL, 10);
    struct connection *all = calloc(connections, sizeof *all);
    for (int i = 0; i < connections; i++) dial(set, proxy, &all[i]);
    struct epoll_event events[256];
    for (double end = now() + atof(words[4]); now() < end;) {
        int ready = epoll_wait(set, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            int outcome = receive(c);
            if (outcome == 0) continue;
            requests++;
            if (outcome == 1 && ask(c)) continue;
            failed++;
            close(c->socket);
            dial(set, proxy, c);
        }
    }
    printf("%llu %llu %llu\n", (unsigned long long)requests, (unsigned long long)new_count, (unsigned long long)failed);
    return 0;
}
