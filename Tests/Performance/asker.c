// asker PORT URL COUNT: asks a proxy for one URL so many times on one connection, each answer a 200 of a known length, and nothing else.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const char *url = argv[2], *host = strstr(url, "//") + 2;
    char request[512], answer[65536];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %.*s\r\n\r\n", url, (int)strcspn(host, "/"), host);
    struct sockaddr_in proxy = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(descriptor, (struct sockaddr *)&proxy, sizeof proxy) != 0) return 1;
    for (int i = atoi(argv[3]); i > 0; i--) {
        if (send(descriptor, request, length, 0) != length) return 1;
        // A head and what it announces, as it comes.
        for (long got = 0, wanted = -1; wanted < 0 || got < wanted;) {
            ssize_t more = recv(descriptor, answer + got, sizeof answer - 1 - got, 0);
            if (more <= 0) return 1;
            answer[got += more] = 0;
            const char *end = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, "\r\ncontent-length:");
            if (wanted >= 0 || !end) continue;
            if (!field || strncmp(answer + 9, "200", 3) != 0) return fwrite(answer, 1, got, stderr), 1;
            wanted = end + 4 - answer + atol(field + 17);
        }
    }
    return 0;
}
