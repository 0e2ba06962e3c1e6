/* A bot for okey in C, in one file and without a library:
 *
 *     gcc -O2 -o bot bot.c && okey evaluate "cmd:./bot" random
 *
 * It reads one JSON message a line and answers on stdout; docs/protocol.md has every field. The rule: finish when that
 * is possible, take a throw that fits, and throw the tile that fits least. Notes for people go to stderr.
 *
 * The reader below knows only as much of JSON as is needed: it walks over any value, so the order of the fields, spaces
 * and unknown fields make no difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WILD = 52, DRAW = 0, TAKE = 1, THROW = 3, FINISH = 56, NUM_ACTIONS = 109 };

/* --- reading JSON --------------------------------------------------------------------------------------------- */

static const char *spaces(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') at++;
    return at;
}

/* The place after a string, which begins at its first quote. */
static const char *after_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The place after any value. */
static const char *after_value(const char *at) {
    int depth = 0;
    at = spaces(at);
    while (*at) {
        if (*at == '"') {
            at = after_string(at);
            if (depth == 0) return at;
            continue;
        }
        if (*at == '{' || *at == '[') depth++;
        if (*at == '}' || *at == ']') {
            if (depth == 0) return at; /* the end of what this value stands in */
            if (--depth == 0) return at + 1;
        }
        if (*at == ',' && depth == 0) return at;
        at++;
    }
    return at;
}

/* The value of a key of an object, which begins at its brace; NULL if it has no such key. */
static const char *get(const char *object, const char *key) {
    const char *at = spaces(object);
    size_t length = strlen(key);
    if (*at != '{') return NULL;
    at = spaces(at + 1);
    while (*at == '"') {
        const char *name = at + 1;
        const char *end = after_string(at);
        const char *value = spaces(end);
        if (*value != ':') return NULL;
        value = spaces(value + 1);
        if ((size_t)(end - 1 - name) == length && strncmp(name, key, length) == 0) return value;
        at = spaces(after_value(value));
        if (*at != ',') return NULL;
        at = spaces(at + 1);
    }
    return NULL;
}

/* The whole numbers of a list; their count. */
static int numbers(const char *list, int *out, int most) {
    int count = 0;
    const char *at = list ? spaces(list) : NULL;
    if (!at || *at != '[') return 0;
    at = spaces(at + 1);
    while (*at && *at != ']' && count < most) {
        out[count++] = atoi(at);
        at = spaces(after_value(at));
        if (*at == ',') at = spaces(at + 1);
    }
    return count;
}

/* --- choosing ------------------------------------------------------------------------------------------------- */

/* How well one tile of a rack fits to the others: what lies near it in runs, and what has its number. */
static int worth(const int copies[53], int kind) {
    int total = 0, colour = kind / 13, number = kind % 13;
    if (kind == WILD) return 1000; /* kinds 0 to 51 are colour * 13 + number - 1 */
    for (int step = 1; step <= 2; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int near = number + sign * step;
            if (near == 13 && step == 1) near = 0; /* a 1 may follow a 13 */
            if (near >= 0 && near < 13 && copies[colour * 13 + near]) total += step == 1 ? 4 : 2;
        }
    for (int other = 0; other < 4; other++)
        if (other != colour && copies[other * 13 + number]) total += 4;
    return total - (copies[kind] > 1 ? 3 : 0); /* a twin is of no use in melds */
}

static int choose(const char *seen) {
    int legal[NUM_ACTIONS], rack[16], copies[53] = {0}, points[53] = {0};
    int num_legal = numbers(get(seen, "legal_actions"), legal, NUM_ACTIONS);
    int num_rack = numbers(get(seen, "rack"), rack, 16);
    const char *pair = get(seen, "finish_points"); /* [[kind, points], ...] */
    int best = -1, value = 0, can_draw = 0, can_take = 0;
    for (int i = 0; i < num_rack; i++)
        if (rack[i] >= 0 && rack[i] < 53) copies[rack[i]]++;
    if (pair && *pair == '[') pair = spaces(pair + 1);
    while (pair && *pair == '[') {
        int two[2] = {0, 0};
        if (numbers(pair, two, 2) == 2 && two[0] >= 0 && two[0] < 53) points[two[0]] = two[1];
        pair = spaces(after_value(pair));
        if (*pair == ',') pair = spaces(pair + 1);
    }
    for (int i = 0; i < num_legal; i++) {
        int action = legal[i], score;
        can_draw |= action == DRAW;
        can_take |= action == TAKE;
        if (action < THROW || action >= NUM_ACTIONS) continue;
        score = action >= FINISH ? 100000 + points[action - FINISH] : -worth(copies, action - THROW);
        if (best < 0 || score > value) best = action, value = score;
    }
    if (best >= 0) return best;
    if (can_take) {
        const char *text = get(seen, "offer");
        int offer = text ? atoi(text) : -1;
        if (!can_draw) return TAKE;
        if (offer >= 0 && offer < 53) {
            copies[offer]++;
            if (worth(copies, offer) >= 8) return TAKE;
        }
    }
    return can_draw || num_legal == 0 ? DRAW : legal[0];
}

/* --- talking -------------------------------------------------------------------------------------------------- */

static void act(const char *message) {
    const char *id = get(message, "id"), *at = get(message, "observations"), *comma = "";
    if (!id || !at || *at != '[') return;
    printf("{\"type\":\"actions\",\"id\":%.*s,\"actions\":[", (int)(after_value(id) - id), id);
    at = spaces(at + 1);
    while (*at == '{') {
        printf("%s%d", comma, choose(at));
        comma = ",";
        at = spaces(after_value(at));
        if (*at == ',') at = spaces(at + 1);
    }
    printf("]}\n");
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *type = get(line, "type");
        if (!type) continue;
        if (strncmp(type, "\"hello\"", 7) == 0)
            printf("{\"type\":\"ready\",\"version\":1,\"name\":\"c-example\",\"batch\":64}\n");
        else if (strncmp(type, "\"act\"", 5) == 0)
            act(line);
        else if (strncmp(type, "\"end\"", 5) == 0)
            break;
        /* reset: this bot draws nothing by chance; types that do not exist yet are passed over */
        fflush(stdout);
    }
    free(line);
    return 0;
}
