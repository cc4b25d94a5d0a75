/* Gives a target the files that are named, as libFuzzer would: so found inputs are tests wherever there is a compiler. */
#include "targets/fuzz.h"

int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(names[i], "rb");
        CHECK(file && !fseek(file, 0, SEEK_END));
        size_t size = (size_t)ftell(file);
        uint8_t *data = malloc(size ? size : 1);
        rewind(file);
        CHECK(data && fread(data, 1, size, file) == size);
        fclose(file);
        fprintf(stderr, "%s\n", names[i]);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
