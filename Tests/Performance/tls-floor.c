// The least that a handshake costs: connects, verifies chain and name with anchors that are loaded once, asks once, and ends; so many
// times. Prints the CPU of one in microseconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const char *name = argv[1];
    int port = atoi(argv[2]), count = atoi(argv[3]);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_locations(context, argv[4], NULL) != 1) return 1;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    char request[256], answer[16384];
    int length = snprintf(request, sizeof request, "GET /pass/one HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", name);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    double before = cpu();
    for (int i = 0; i < count; i++) {
        int descriptor = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return 1;
        SSL *session = SSL_new(context);
        SSL_set_fd(session, descriptor);
        SSL_set_tlsext_host_name(session, name);
        SSL_set1_host(session, name);
        if (SSL_connect(session) != 1 || SSL_write(session, request, length) != length) return 1;
        while (SSL_read(session, answer, sizeof answer) > 0) {}
        SSL_shutdown(session);
        SSL_free(session);
        close(descriptor);
    }
    printf("%.1f\n", (cpu() - before) / count);
    return 0;
}
