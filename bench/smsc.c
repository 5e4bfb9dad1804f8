/* A simulated SMSC that uses as little processor time as possible, to leave it to the measured system.
 *
 * It accepts every bind, responds to submit_sm with ids, sends a receipt (SMPP 3.4 appendix B) for each submit_sm that
 * requests one, on the same connection, and counts duplicate destinations. It trusts its client: no validation, one
 * text part per destination. It serves the counts as JSON over HTTP, with the same names as `bulksms smsc`.
 *
 *   smsc --port N --stats-port N [--no-receipts] [--receipt-delay S] [--receipt-window N] [--round-trip S]
 *        [--full PREFIX]
 *
 * With --full, it refuses what goes to phones with this prefix: their queue is full (ESME_RMSGQFUL).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define DELIVER_SM 5u
#define SUBMIT_SM 4u
#define ENQUIRE_LINK 0x15u
#define UNBIND 6u
#define RESPONSE 0x80000000u
#define ADDRESS 24

typedef struct { double due; uint64_t id; uint32_t sequence; uint8_t source_size, destination_size;
                 char source[ADDRESS], destination[ADDRESS]; } Item;  /* addresses with type, plan and NUL */
typedef struct { Item *items; size_t head, count, room; } Ring;
typedef struct { char *data; size_t size, room; } Buffer;
typedef struct { int fd, stats, listener, blocked, dead; Buffer in, out; Ring answers, receipts;
                 uint32_t sequence; long unanswered; } Connection;

static int want_receipts = 1, loop_fd;
static double receipt_delay = 1.0, round_trip;
static const char *full;
static long receipt_window = 1000, binds, submits, duplicates, sent, answered, refused, waiting, connections;
static uint64_t next_id;
static uint64_t *seen;
static size_t seen_room = 1 << 20, seen_count;
static Connection **all;
static size_t all_count, all_room;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void *grown(void *old, size_t bytes) {
    void *made = realloc(old, bytes);
    if (!made) { perror("memory"); exit(1); }
    return made;
}

static char *space(Buffer *b, size_t more) {
    if (b->size + more > b->room) b->data = grown(b->data, b->room = (b->size + more) * 2);
    return b->data + b->size;
}

static Item *push(Ring *r) {
    if (r->count == r->room) {  /* full: move the wrapped part behind the rest */
        size_t old = r->room;
        r->items = grown(r->items, (r->room = old ? old * 2 : 1024) * sizeof(Item));
        memcpy(r->items + old, r->items, r->head * sizeof(Item));
    }
    return &r->items[(r->head + r->count++) % r->room];
}

static Item *first(Ring *r) { return r->count ? &r->items[r->head] : NULL; }
static void pop(Ring *r) { r->head = (r->head + 1) % r->room; r->count--; }

static int known(uint64_t phone) {  /* whether the phone is in the set; adds it */
    if (!seen || seen_count * 2 > seen_room) {
        uint64_t *old = seen;
        size_t room = seen_room;
        if (old) seen_room *= 4;
        seen = calloc(seen_room, sizeof *seen);
        if (!seen) { perror("memory"); exit(1); }
        seen_count = 0;
        for (size_t i = 0; old && i < room; i++) if (old[i]) known(old[i]);
        free(old);
    }
    size_t at = (phone * 0x9E3779B97F4A7C15u >> 20) & (seen_room - 1);
    for (; seen[at]; at = (at + 1) & (seen_room - 1)) if (seen[at] == phone) return 1;
    seen[at] = phone;
    seen_count++;
    return 0;
}

static char *header(char *p, uint32_t size, uint32_t command, uint32_t sequence) {
    uint32_t words[4] = {htonl(size), htonl(command), 0, htonl(sequence)};
    memcpy(p, words, 16);
    return p + 16;
}

static void answer(Connection *c, uint64_t id, uint32_t sequence) {
    char *p = header(space(&c->out, 27), 27, SUBMIT_SM | RESPONSE, sequence);
    for (int i = 9; i >= 0; i--) { *p++ = "0123456789abcdef"[id >> (4 * i) & 15]; }
    *p = 0;
    c->out.size += 27;
}

static void refuse(Connection *c, uint32_t sequence) {
    char *p = header(space(&c->out, 17), 17, SUBMIT_SM | RESPONSE, sequence);
    *p = 0;
    p[-5] = 0x14;  /* the last octet of the status */
    c->out.size += 17;
}

static void deliver(Connection *c, Item *r, const char *clock) {
    char text[160], *start = space(&c->out, 300), *p = start + 16;
    int size = sprintf(text, "id:%010llx sub:001 dlvrd:001 submit date:%s done date:%s stat:DELIVRD err:000 text:",
                       (unsigned long long)r->id, clock, clock);
    *p++ = 0;  /* service_type; the phone is the source of a receipt */
    p = mempcpy(p, r->destination, r->destination_size);
    p = mempcpy(p, r->source, r->source_size);
    p = mempcpy(p, "\4\0\0\0\0\0\0\0\0", 9);
    *p++ = (char)size;
    p = mempcpy(p, text, size);
    p = mempcpy(p, "\0\x1e\0\x0b", 4);  /* receipted_message_id */
    p = mempcpy(p, text + 3, 10);
    p = mempcpy(p, "\0\4\x27\0\1\2", 6);  /* its NUL, and message_state: delivered */
    header(start, p - start, DELIVER_SM, c->sequence = c->sequence % 0x7fffffff + 1);
    c->out.size += p - start;
    c->unanswered++;
    sent++;
}

static size_t address(const char *p, const char *end) {  /* octets of type, plan and digits with their NUL */
    const char *nul = memchr(p + 2, 0, end - p - 2);
    size_t size = nul ? nul + 1 - p : 0;
    if (!size || size > ADDRESS) { fputs("a submit_sm has no usable address\n", stderr); exit(1); }
    return size;
}

static void submit(Connection *c, const char *p, const char *end, uint32_t sequence, double at) {
    const char *source = (const char *)memchr(p, 0, end - p) + 1;
    size_t source_size = address(source, end);
    const char *destination = source + source_size;
    size_t destination_size = address(destination, end);
    const char *q = destination + destination_size + 3;
    for (int i = 0; i < 2; i++) q = (const char *)memchr(q, 0, end - q) + 1;  /* schedule and validity */
    uint64_t phone = 0, id = ++next_id;
    for (const char *d = destination + 2; *d; d++) phone = phone * 10 + (uint64_t)(*d - '0');
    if (full && !strncmp(destination + 2, full, strlen(full))) { refuse(c, sequence); return; }
    submits++;
    duplicates += known(phone);
    if (round_trip > 0) {
        Item *held = push(&c->answers);
        held->due = at + round_trip, held->id = id, held->sequence = sequence;
    } else answer(c, id, sequence);
    if (!want_receipts || !(*q & 3)) return;
    Item *r = push(&c->receipts);
    r->due = at + receipt_delay, r->id = id;
    memcpy(r->source, source, r->source_size = source_size);
    memcpy(r->destination, destination, r->destination_size = destination_size);
    waiting++;
}

static void statistics(Connection *c) {
    char body[512];
    int size = sprintf(body, "{\"binds\": %ld, \"connections\": %ld, \"submits\": %ld, \"accepted\": %ld, "
                       "\"duplicates\": %ld, \"receipts_sent\": %ld, \"receipts_answered\": %ld, "
                       "\"receipts_refused\": %ld, \"receipts_waiting\": %ld}",
                       binds, connections, submits, submits, duplicates, sent, answered, refused, waiting);
    c->out.size += sprintf(space(&c->out, 700), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                           "Content-Length: %d\r\nConnection: close\r\n\r\n%s", size, body);
}

static void parse(Connection *c) {
    char *p = c->in.data, *end = p + c->in.size;
    double at = now();
    if (c->stats) {
        if (memmem(p, end - p, "\r\n\r\n", 4)) { statistics(c); c->dead = 1; }
        return;
    }
    while (end - p >= 16) {
        uint32_t words[4];
        memcpy(words, p, 16);
        uint32_t size = ntohl(words[0]), command = ntohl(words[1]), status = ntohl(words[2]), sequence = ntohl(words[3]);
        if (size < 16 || size > 70000) { c->dead = 1; return; }
        if (size > (size_t)(end - p)) break;
        if (command == SUBMIT_SM) submit(c, p + 16, p + size, sequence, at);
        else if (command == (DELIVER_SM | RESPONSE)) {
            c->unanswered--;
            if (status) refused++;
            else answered++, waiting--;
        } else if (command == 1 || command == 2 || command == 9) {
            header(space(&c->out, 21), 21, command | RESPONSE, sequence);
            memcpy(c->out.data + c->out.size + 16, "SMSC", 5);
            c->out.size += 21;
            binds++;
        } else if (command == ENQUIRE_LINK || command == UNBIND) {
            header(space(&c->out, 16), 16, command | RESPONSE, sequence);
            c->out.size += 16;
        }
        p += size;
    }
    memmove(c->in.data, p, c->in.size = end - p);
}

static void send_due(Connection *c, double at, const char *clock) {
    Item *item;
    while ((item = first(&c->answers)) && item->due <= at) { answer(c, item->id, item->sequence); pop(&c->answers); }
    while (c->unanswered < receipt_window && (item = first(&c->receipts)) && item->due <= at) {
        deliver(c, item, clock);
        pop(&c->receipts);
    }
}

static void flush(Connection *c) {
    ssize_t n = c->out.size ? send(c->fd, c->out.data, c->out.size, MSG_NOSIGNAL) : 0;
    if (n < 0 && errno != EAGAIN) { c->dead = 1; c->out.size = 0; return; }
    if (n > 0) memmove(c->out.data, c->out.data + n, c->out.size -= n);
    if (c->blocked != (c->out.size > 0)) {
        c->blocked = c->out.size > 0;
        struct epoll_event e = {.events = EPOLLIN | (c->blocked ? EPOLLOUT : 0), .data.ptr = c};
        epoll_ctl(loop_fd, EPOLL_CTL_MOD, c->fd, &e);
    }
}

static Connection *attach(int fd, int listener, int stats) {
    Connection *c = calloc(1, sizeof *c);
    if (!c) { perror("memory"); exit(1); }
    c->fd = fd, c->listener = listener, c->stats = stats;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(loop_fd, EPOLL_CTL_ADD, fd, &e);
    if (listener) return c;
    if (all_count == all_room) all = grown(all, (all_room = all_room * 2 + 16) * sizeof *all);
    connections += !stats;
    return all[all_count++] = c;
}

static void forget(size_t i) {  /* its receipts are lost, which the counts show */
    Connection *c = all[i];
    all[i] = all[--all_count];
    connections -= !c->stats;
    close(c->fd);
    free(c->in.data), free(c->out.data), free(c->answers.items), free(c->receipts.items), free(c);
}

static void listen_at(int port, int stats) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 128)) { perror("cannot listen"); exit(1); }
    attach(fd, 1, stats);
}

static void welcome(Connection *c) {
    int one = 1, fd;
    while ((fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        attach(fd, 0, c->stats);
    }
}

static void take(Connection *c) {
    ssize_t n = recv(c->fd, space(&c->in, 65536), 65536, 0);
    if (n > 0) { c->in.size += n; parse(c); }
    else if (n == 0 || errno != EAGAIN) c->dead = 1;
}

int main(int argc, char **argv) {
    struct option options[] = {{"port", 1, 0, 'p'}, {"stats-port", 1, 0, 's'}, {"no-receipts", 0, 0, 'n'},
                               {"receipts", 0, 0, 'y'}, {"receipt-delay", 1, 0, 'd'}, {"receipt-window", 1, 0, 'w'},
                               {"round-trip", 1, 0, 'r'}, {"full", 1, 0, 'f'}, {0, 0, 0, 0}};
    int port = 2775, stats_port = 0, option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) switch (option) {
        case 'p': port = atoi(optarg); break;
        case 's': stats_port = atoi(optarg); break;
        case 'n': want_receipts = 0; break;
        case 'y': want_receipts = 1; break;
        case 'd': receipt_delay = atof(optarg); break;
        case 'w': receipt_window = atol(optarg); break;
        case 'r': round_trip = atof(optarg); break;
        case 'f': full = optarg; break;
        default: return 2;
    }
    loop_fd = epoll_create1(0);
    listen_at(port, 0);
    if (stats_port) listen_at(stats_port, 1);
    for (struct epoll_event events[64];;) {
        int pending = 0;
        for (size_t i = 0; i < all_count; i++)
            pending |= all[i]->answers.count || (all[i]->receipts.count && all[i]->unanswered < receipt_window);
        int n = epoll_wait(loop_fd, events, 64, pending ? (round_trip > 0 ? 1 : 5) : 1000);
        for (int i = 0; i < n; i++) {
            Connection *c = events[i].data.ptr;
            if (c->listener) welcome(c);
            else if (events[i].events & ~EPOLLOUT) take(c);
        }
        char clock[16];
        time_t t = time(NULL);
        double at = now();
        strftime(clock, sizeof clock, "%y%m%d%H%M", gmtime(&t));
        for (size_t i = 0; i < all_count; i++) { send_due(all[i], at, clock); flush(all[i]); }
        for (size_t i = all_count; i-- > 0;) if (all[i]->dead) forget(i);
    }
}
