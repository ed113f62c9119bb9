/* A runner in one file of C: the whole protocol of docs/protocol.md without a library.
 *
 *     cc -O2 -o c-example c-example.c -lm
 *
 * It offers `c-example/plain` for `add` and `softmax` in f32. To offer a kernel of yours, write a
 * function like `add` and give it a row in `kernels`. The rest is the conversation: read a line,
 * answer it, one at a time. The conductor's lines come over the socket on descriptor 3 with the
 * tensors' files beside `prepare`; without that socket they come on standard input and name the
 * files by path, so that `./c-example < conversation.jsonl` runs under a debugger or a profiler.
 *
 * Exit codes: 0 after `bye` or when the conductor closes, 2 after a line that is no question.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 1 << 20, MAX_TENSORS = 3, MAX_FILES = 16, MAX_SAMPLES = 10000, HUGE_PAGE = 2 << 20 };

static void add(float *const *t, size_t rows, size_t cols) {
    const float *x = t[0], *y = t[1];
    float *z = t[2];
    for (size_t i = 0; i < rows * cols; i++) z[i] = x[i] + y[i];
}

/* The maximum carries NaN along; the sum is in f64, so only exponential and quotient round. */
static void softmax(float *const *t, size_t rows, size_t cols) {
    for (size_t row = 0; row < rows; row++) {
        const float *x = t[0] + row * cols;
        float *y = t[1] + row * cols, max = -INFINITY;
        double sum = 0;
        for (size_t i = 0; i < cols; i++) max = max >= x[i] || isnan(max) ? max : x[i];
        for (size_t i = 0; i < cols; i++) sum += y[i] = expf(x[i] - max);
        for (size_t i = 0; i < cols; i++) y[i] = (float)(y[i] / sum);
    }
}

typedef void Kernel(float *const *tensors, size_t rows, size_t cols);
static const struct { const char *operation; int tensors; Kernel *run; const char *about; } kernels[] = {
    {"add", 3, add, "one loop, left to the compiler"},
    {"softmax", 2, softmax, "three passes a row, expf of the C library, sum in f64"},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static char line[MAX_LINE + 1], answer[MAX_LINE];
static size_t held, consumed;            /* bytes in `line`; of those, the present question's */
static int files[MAX_FILES], file_count; /* descriptors that came with the present question */
static int on_socket;

static void stop(const char *why) {
    fprintf(stderr, "c-example: not a question of the protocol: %s\n", why);
    exit(2);
}

/* Reads more bytes behind those in `line`, and takes the descriptors that come with them. */
static ssize_t receive(void) {
    if (!on_socket) return read(0, line + held, MAX_LINE - held);
    union { char bytes[CMSG_SPACE(sizeof files)]; struct cmsghdr align; } control;
    struct iovec data = {line + held, MAX_LINE - held};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1,
                             .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(3, &message, MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (file_count + count > MAX_FILES) stop("too many descriptors");
        memcpy(files + file_count, CMSG_DATA(c), (size_t)count * sizeof(int));
        file_count += count;
    }
    if (message.msg_flags & MSG_CTRUNC) stop("too many descriptors");
    return got;
}

/* The next question lies in `line`, ended by a zero. Returns 0 when the conductor has closed. */
static int next_question(void) {
    while (file_count) close(files[--file_count]);
    memmove(line, line + consumed, held -= consumed);
    consumed = 0;
    for (size_t seen = 0;;) {
        char *end = memchr(line + seen, '\n', held - seen);
        if (end) {
            consumed = (size_t)(end - line) + 1;
            if (memchr(line, 0, consumed)) stop("a zero byte");
            *end = 0;
            return 1;
        }
        if (held == MAX_LINE) stop("a line longer than 1 MiB");
        seen = held;
        ssize_t got = receive();
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 && held) stop("the last line has no end");
        if (got <= 0) return 0;
        held += (size_t)got;
    }
}

static void send_all(const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = on_socket ? send(3, bytes, length, MSG_NOSIGNAL) : write(1, bytes, length);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) exit(0); /* nobody listens any more */
        bytes += sent, length -= (size_t)sent;
    }
}

/* Appends to `answer` and returns the new length. */
__attribute__((format(printf, 2, 3))) static size_t say(size_t at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(answer + at, MAX_LINE - at, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= MAX_LINE - at) exit(1); /* our own answers are shorter */
    return at + (size_t)length;
}

static size_t refuse(uint64_t id, const char *kind, const char *why) {
    return say(0, "{\"id\":%" PRIu64 ",\"error\":{\"kind\":\"%s\",\"message\":\"%s\"}}\n",
               id, kind, why);
}

/* Just enough JSON: walk to a field and skip the rest. NULL, for absent, goes in and comes out unharmed. */
static const char *blank(const char *p) { return p + strspn(p, " \t\r"); }

/* The place behind one value. */
static const char *skip(const char *p) {
    int depth = 0;
    do {
        p = blank(p);
        if (*p == '"') {
            for (p++; *p != '"'; p++)
                if (!*p || (*p == '\\' && !*++p)) return NULL;
            p++;
        } else if (*p == '{' || *p == '[') {
            depth++, p++;
        } else if (depth && (*p == '}' || *p == ']')) {
            depth--, p++;
        } else if (depth && (*p == ',' || *p == ':')) {
            p++;
        } else {
            size_t length = strcspn(p, " \t\r\",:[]{}");
            if (!length) return NULL;
            p += length;
        }
    } while (depth);
    return p;
}

/* The value of `key` in the object at `p`; with no key, value `index` of the array at `p`. */
static const char *find(const char *p, const char *key, size_t index) {
    if (!p || *(p = blank(p)) != (key ? '{' : '[')) return NULL;
    for (p++;; p = blank(p) + 1) {
        const char *name = p = blank(p), *end;
        if (key) {
            if (*name != '"' || !(end = skip(name)) || *(p = blank(end)) != ':') return NULL;
            p = blank(p + 1);
            if ((size_t)(end - name) == strlen(key) + 2 && !strncmp(name + 1, key, strlen(key))) return p;
        } else if (!index--) {
            return *p == ']' ? NULL : p;
        }
        if (!(p = skip(p)) || *blank(p) != ',') return NULL;
    }
}

static const char *field(const char *object, const char *key) { return find(object, key, 0); }

static int number(const char *p, uint64_t *value) {
    if (!p || *p < '0' || *p > '9') return 0;
    errno = 0;
    *value = strtoull(p, NULL, 10);
    return !errno;
}

static int is_text(const char *p, const char *text) {
    size_t length = strlen(text);
    return p && *p == '"' && !strncmp(p + 1, text, length) && p[1 + length] == '"';
}

/* A text without its quotes; of the escapes only those of quote, slash and backslash. */
static int copy_text(const char *p, char *to, size_t room) {
    if (!p || *p++ != '"') return 0;
    for (; *p != '"'; p++) {
        if (*p == '\\' && !strchr("\"\\/", *++p)) return 0;
        if (!*p || room-- < 2) return 0;
        *to++ = *p;
    }
    *to = 0;
    return 1;
}

static struct { void *base; size_t span; } maps[MAX_TENSORS];
static float *tensors[MAX_TENSORS];
static Kernel *volatile prepared; /* volatile: each launch is a call */
static uint64_t rows, cols;

static void release(void) {
    prepared = NULL;
    for (int i = 0; i < MAX_TENSORS; i++) {
        if (maps[i].span) munmap(maps[i].base, maps[i].span);
        maps[i].span = 0;
    }
}

/* Maps tensor `i` between two pages that cannot be read. Returns what is wrong, or NULL. */
static const char *map_tensor(int i, const char *place, int writable) {
    uint64_t offset, bytes, size, page = (uint64_t)sysconf(_SC_PAGESIZE);
    char path[4096];
    struct stat status;
    if (!is_text(field(place, "role"), writable ? "output" : "input"))
        return "inputs come first, then the output";
    if (!is_text(field(place, "dtype"), "f32")) return "a tensor is not f32";
    if (!number(field(place, "offset"), &offset) || !number(field(place, "bytes"), &bytes) ||
        !number(field(place, "size"), &size)) return "a tensor lacks `offset`, `bytes` or `size`";
    if (bytes != rows * cols * 4 || size > 1ull << 46 || offset > size || bytes > size - offset || offset % 4)
        return "a tensor does not fit its shape or its file";
    if (!on_socket && !copy_text(field(place, "path"), path, sizeof path)) return "a tensor lacks `path`";
    int file = on_socket ? files[i] : open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (file < 0) return "a tensor's file cannot be opened";
    const char *wrong = NULL;
    if (fstat(file, &status) || status.st_size < 0 || (uint64_t)status.st_size < size)
        wrong = "a tensor's file is too short";
    size_t span = size + 3 * page + HUGE_PAGE;
    int reserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = wrong ? MAP_FAILED : mmap(NULL, span, PROT_NONE, reserve, -1, 0);
    if (base != MAP_FAILED) {
        maps[i].base = base, maps[i].span = span;
        char *start = (char *)(((uintptr_t)base + page + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
        int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        if (mmap(start, size, access, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) == MAP_FAILED)
            wrong = "a tensor's file cannot be mapped";
        tensors[i] = (float *)(start + offset);
    } else if (!wrong) {
        wrong = "no room to map a tensor";
    }
    if (!on_socket) close(file); /* those of the socket are closed with the question */
    return wrong;
}

/* Each question leaves its line in `answer` and returns the length. */
static size_t hello(uint64_t id) {
    size_t at = say(0, "{\"id\":%" PRIu64 ",\"ok\":{\"protocol\":2,\"runner\":\"c-example\","
                       "\"version\":\"1.0.0\",\"devices\":[\"cpu\"],\"offers\":[", id);
    for (int i = 0; i < KERNELS; i++)
        at = say(at, "%s{\"implementation\":\"c-example/plain\",\"operation\":\"%s\",\"dtypes\":[\"f32\"],"
                     "\"about\":\"%s\",\"parallel\":false}",
                 i ? "," : "", kernels[i].operation, kernels[i].about);
    return say(at, "],\"notes\":{\"compiler\":\"%s\"}}}\n", __VERSION__);
}

static size_t prepare(uint64_t id) {
    const char *axes = field(line, "axes"), *places = field(line, "tensors"), *wrong = NULL;
    int chosen = 0;
    release();
    while (chosen < KERNELS && !is_text(field(line, "operation"), kernels[chosen].operation)) chosen++;
    if (chosen == KERNELS || !is_text(field(line, "implementation"), "c-example/plain") ||
        !is_text(field(line, "dtype"), "f32") || !is_text(field(line, "variant"), ""))
        return refuse(id, "unsupported", "c-example/plain has add and softmax in f32");
    if (!number(field(axes, "rows"), &rows) || !number(field(axes, "cols"), &cols) || !rows || !cols ||
        rows > 1ull << 44 || cols > (1ull << 44) / rows)
        return refuse(id, "failed", "`rows` and `cols` are missing or too large");
    int count = kernels[chosen].tensors;
    if (!find(places, NULL, (size_t)count - 1) || find(places, NULL, (size_t)count) ||
        (on_socket && file_count != count))
        return refuse(id, "failed", "another number of tensors or descriptors than the operation has");
    for (int i = 0; i < count && !wrong; i++)
        wrong = map_tensor(i, find(places, NULL, (size_t)i), i == count - 1);
    if (wrong) {
        release();
        return refuse(id, "failed", wrong);
    }
    prepared = kernels[chosen].run;
    return say(0, "{\"id\":%" PRIu64 ",\"ok\":{\"threads\":1,\"output\":\"in-place\"}}\n", id);
}

static size_t launch(uint64_t id) {
    uint64_t count;
    if (!number(field(line, "count"), &count)) return refuse(id, "failed", "`count` is missing");
    if (!prepared) return refuse(id, "failed", "nothing is prepared");
    while (count--) prepared(tensors, rows, cols);
    return say(0, "{\"id\":%" PRIu64 ",\"ok\":{}}\n", id);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t visit(uint64_t id) {
    static uint64_t times[MAX_SAMPLES];
    uint64_t warmup, samples, batch;
    if (!number(field(line, "warmup"), &warmup) || !number(field(line, "samples"), &samples) ||
        !number(field(line, "batch"), &batch) || samples > MAX_SAMPLES || !batch)
        return refuse(id, "failed", "`warmup`, `samples` or `batch` is missing or out of range");
    if (!prepared) return refuse(id, "failed", "nothing is prepared");
    while (warmup--) prepared(tensors, rows, cols);
    for (uint64_t sample = 0; sample < samples; sample++) {
        uint64_t start = now();
        for (uint64_t i = 0; i < batch; i++) prepared(tensors, rows, cols);
        times[sample] = now() - start;
    }
    size_t at = say(0, "{\"id\":%" PRIu64 ",\"ok\":{\"nanoseconds\":[", id);
    for (uint64_t sample = 0; sample < samples; sample++)
        at = say(at, "%s%" PRIu64, sample ? "," : "", times[sample]);
    return say(at, "]}}\n");
}

static size_t let_go(uint64_t id) {
    release();
    return say(0, "{\"id\":%" PRIu64 ",\"ok\":{}}\n", id);
}

int main(void) {
    struct stat status;
    on_socket = fstat(3, &status) == 0 && S_ISSOCK(status.st_mode);
    while (next_question()) {
        const char *ask = field(line, "ask"), *end = skip(line);
        uint64_t id;
        if (!number(field(line, "id"), &id) || !end || *blank(end)) stop("no object with a number `id`");
        int bye = is_text(ask, "bye");
        send_all(answer, is_text(ask, "hello") ? hello(id)
                         : is_text(ask, "prepare") ? prepare(id)
                         : is_text(ask, "launch") ? launch(id)
                         : is_text(ask, "visit") ? visit(id)
                         : bye || is_text(ask, "release") ? let_go(id)
                         : refuse(id, "failed", "unknown question"));
        if (bye) return 0;
    }
    return 0;
}
