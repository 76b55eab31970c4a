/* Predicts for inputs in a file of floats: predict RUN FILE COUNT [LENGTH...] */
#include <matnet.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what) {
    fprintf(stderr, "error: %s: %s\n", what, matnet_last_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: predict RUN FILE COUNT [LENGTH...]\n");
        return 2;
    }
    matnet_model *model = NULL;
    if (matnet_load(argv[1], &model) != MATNET_OK) {
        return fail(argv[1]);
    }
    fprintf(stderr, "matnet %s, %s\n", matnet_version(), matnet_kind(model));

    /* All numbers of the file; the axis that may have any length gets what remains. */
    FILE *file = fopen(argv[2], "rb");
    if (file == NULL) {
        perror(argv[2]);
        return 1;
    }
    fseek(file, 0, SEEK_END);
    size_t numbers = (size_t)ftell(file) / sizeof(float);
    rewind(file);
    float *input = malloc(numbers * sizeof(float));
    if (input == NULL || fread(input, sizeof(float), numbers, file) != numbers) {
        fprintf(stderr, "error: %s: cannot be read\n", argv[2]);
        return 1;
    }
    fclose(file);
    size_t rank = matnet_input_rank(model) + 1, shape[8], known = 1, open = 0;
    shape[0] = (size_t)strtoul(argv[3], NULL, 10);
    for (size_t axis = 1; axis < rank; axis++) {
        shape[axis] = matnet_input_side(model, axis - 1);
        open = shape[axis] == 0 ? axis : open;
    }
    for (size_t axis = 0; axis < rank; axis++) {
        known *= shape[axis] == 0 ? 1 : shape[axis];
    }
    if (open != 0) {
        shape[open] = numbers / known;
    }

    /* The lengths of sequences, if they were given. */
    size_t *lengths = NULL;
    if (argc > 4) {
        lengths = calloc(shape[0], sizeof(size_t));
        for (size_t at = 0; at < shape[0] && at + 4 < (size_t)argc; at++) {
            lengths[at] = (size_t)strtoul(argv[at + 4], NULL, 10);
        }
    }

    matnet_prediction *prediction = NULL;
    if (matnet_predict(model, input, shape, rank, lengths, &prediction) != MATNET_OK) {
        return fail(argv[2]);
    }
    const size_t *sides = matnet_prediction_shape(prediction);
    const float *values = matnet_prediction_values(prediction);
    const uint32_t *classes = matnet_prediction_classes(prediction);
    size_t each = 1;
    for (size_t axis = 1; axis < matnet_prediction_rank(prediction); axis++) {
        each *= sides[axis];
    }
    int one_class = matnet_prediction_class_count(prediction) == sides[0];
    for (size_t at = 0; at < sides[0]; at++) {
        printf("%s", one_class ? matnet_name(model, classes[at]) : "-");
        for (size_t value = 0; value < each; value++) {
            printf("\t%.9g", values[at * each + value]);
        }
        printf("\n");
    }
    matnet_prediction_free(prediction);
    matnet_free(model);
    free(lengths);
    free(input);
    return 0;
}
