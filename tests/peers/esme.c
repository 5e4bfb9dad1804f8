/* A customer in C, of POSIX sockets only: esme PORT SYSTEM_ID PASSWORD COUNT WINDOW FIRST_PHONE
 *
 * It binds as a transceiver, keeps the window full of one-segment messages, answers each deliver_sm, and ends when it has
 * a receipt for each message. It prints, as JSON: answers, errors, receipts, receipts that came twice or are of no answer,
 * and the seconds until the last answer and the last receipt.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ID 36
typedef struct { char id[ID]; unsigned char state; } Slot;  /* state: 1 answered, 2 receipt, 3 both */

static Slot *slots;
static size_t room;
static long twice;
static char out[1 << 20], in[1 << 20];
static size_t out_size, in_size;
static int fd;

static void note(const char *id, int bit) {
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < ID; i++) hash = (hash ^ (unsigned char)id[i]) * 1099511628211u;
    size_t at = hash % room;
    while (slots[at].state && memcmp(slots[at].id, id, ID)) at = (at + 1) % room;
    if (slots[at].state & bit) twice++;
    memcpy(slots[at].id, id, ID);
    slots[at].state |= bit;
}

static uint32_t word(const char *p) { uint32_t v; memcpy(&v, p, 4); return ntohl(v); }

static void send_pdu(uint32_t command, uint32_t sequence, const char *body, size_t size) {
    uint32_t words[4] = {htonl(16 + size), htonl(command), 0, htonl(sequence)};
    memcpy(out + out_size, words, 16);
    memcpy(out + out_size + 16, body, size);
    out_size += 16 + size;
}

static void flush_out(void) {
    for (size_t at = 0; at < out_size;) {
        ssize_t n = write(fd, out + at, out_size - at);
        if (n <= 0) { perror("write"); exit(1); }
        at += n;
    }
    out_size = 0;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 7) return fprintf(stderr, "esme PORT SYSTEM_ID PASSWORD COUNT WINDOW FIRST_PHONE\n"), 2;
    long count = atol(argv[4]), window = atol(argv[5]), first = atol(argv[6]), open = 0, sent = 0;
    long answers = 0, errors = 0, receipts = 0, unknown = 0;
    room = count * 2 + 1024;
    slots = calloc(room, sizeof *slots);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) { perror("connect"); return 1; }
    char body[512];
    size_t size = sprintf(body, "%s%c%s%c%c%c%c%c", argv[2], 0, argv[3], 0, 0, 0x34, 0, 0);
    body[size++] = 0;
    send_pdu(9, 1, body, size);
    flush_out();
    double begun = now(), answered_at = 0, ended_at = 0;
    int bound = 0;
    while (answers + errors < count || receipts < answers) {
        ssize_t n = read(fd, in + in_size, sizeof in - in_size);
        if (n <= 0) { perror("read"); return 1; }
        in_size += n;
        size_t at = 0;
        while (in_size - at >= 16 && in_size - at >= word(in + at)) {
            char *p = in + at, *content = p + 16;
            uint32_t length = word(p), command = word(p + 4), status = word(p + 8), sequence = word(p + 12);
            at += length;
            if (command == 0x80000009u) {
                if (status) return fprintf(stderr, "bind: %u\n", status), 1;
                bound = 1;
            } else if (command == 0x80000004u) {
                open--;
                if (status) errors++;
                else { answers++; note(content, 1); }
                answered_at = now();
            } else if (command == 5) {
                for (char *id = content; id < p + length - ID - 4; id++)
                    if (!memcmp(id, "\0\x1e\0\x25", 4)) { note(id + 4, 2); break; }
                send_pdu(0x80000005u, sequence, "", 1);
                receipts++;
                ended_at = now();
            } else if (command == 0x15) send_pdu(0x80000015u, sequence, "", 0);
        }
        memmove(in, in + at, in_size -= at);
        while (bound && sent < count && open < window) {
            size_t s = 0;
            body[s++] = 0; body[s++] = 5; body[s++] = 0;
            s += sprintf(body + s, "ACME") + 1;
            body[s++] = 1; body[s++] = 1;
            s += sprintf(body + s, "%ld", first + sent) + 1;
            memset(body + s, 0, 5); s += 5;  /* esm_class, protocol, priority, schedule, validity */
            body[s++] = 1; body[s++] = 0; body[s++] = 0; body[s++] = 0;
            int text = sprintf(body + s + 1, "Message %ld in C", sent);
            body[s] = text;
            send_pdu(4, 2 + sent++, body, s + 1 + text);
            open++;
        }
        flush_out();
    }
    for (size_t i = 0; i < room; i++) unknown += slots[i].state == 1 || slots[i].state == 2;
    printf("{\"answers\": %ld, \"errors\": %ld, \"receipts\": %ld, \"twice\": %ld, \"unmatched\": %ld, "
           "\"answered\": %.3f, \"ended\": %.3f}\n",
           answers, errors, receipts, twice, unknown, answered_at - begun, ended_at - begun);
    return 0;
}
