// What libcurl's easy interface makes of the same: GETs over one kept connection, one after the other, bodies gathered. Nothing of
// Larder is in it. Prints the CPU of one in microseconds.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static char body[1 << 20];
static size_t length;

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static size_t gather(char *octets, size_t size, size_t count, void *context) {
    if (length + size * count > sizeof body) return 0;
    memcpy(body + length, octets, size * count);
    length += size * count;
    return size * count;
}

static void ask(CURL *easy, int count) {
    for (int i = 0; i < count; i++) {
        length = 0;
        long status = 0;
        if (curl_easy_perform(easy) != CURLE_OK) exit(1);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200 || length != 1024) exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, gather);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    int count = atoi(argv[2]);
    ask(easy, 500);
    double before = cpu();
    ask(easy, count);
    printf("%.2f\n", (cpu() - before) / count);
    return 0;
}
