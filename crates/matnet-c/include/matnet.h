/*
 * matnet from C: load a trained run, ask for its shapes and classes, predict.
 *
 * A run is the folder that `matnet train` writes. Arrays are floats in row-major order, as they stand in the user's files;
 * preprocessing is done here. Strings are UTF-8 and end with a zero byte.
 *
 * A model may be used from any thread, by one at a time. Different models are independent.
 */
#ifndef MATNET_H
#define MATNET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum matnet_status {
    MATNET_OK = 0,
    /* An argument is NULL or no UTF-8. */
    MATNET_ERROR_ARGUMENT = 1,
    /* The run cannot be read, or is of a kind that takes no arrays. */
    MATNET_ERROR_RUN = 2,
    /* The inputs do not fit the net. */
    MATNET_ERROR_INPUT = 3,
    /* A bug in matnet. */
    MATNET_ERROR_INTERNAL = 4
} matnet_status;

typedef enum matnet_output {
    /* A probability per class; one class is right. */
    MATNET_CLASSES = 0,
    /* A probability per label; several may apply. */
    MATNET_LABELS = 1,
    /* Values. */
    MATNET_VALUES = 2,
    /* Matrices. */
    MATNET_MATRICES = 3
} matnet_output;

/* A trained net. */
typedef struct matnet_model matnet_model;
/* Predictions for a batch. */
typedef struct matnet_prediction matnet_prediction;

/* The version of this library. */
const char *matnet_version(void);

/* What went wrong in the last call of this thread that failed; empty before that. It is valid until the thread's next call. */
const char *matnet_last_error(void);

/* Loads the best weights of a run. Free the model with matnet_free. */
matnet_status matnet_load(const char *run, matnet_model **model);

/* Frees a model; NULL is allowed. */
void matnet_free(matnet_model *model);

/* The kind of net, like "feedforward". It is valid as long as the model. */
const char *matnet_kind(const matnet_model *model);

/* How many axes one input has, the batch not counted, and the length of each; 0 where any length will do. */
size_t matnet_input_rank(const matnet_model *model);
size_t matnet_input_side(const matnet_model *model, size_t axis);
/* 1 if inputs are sequences, which may have different lengths. */
int matnet_takes_sequences(const matnet_model *model);

/* What the net gives, how many axes it has for one input, and the length of each; 0 where the input decides. */
matnet_output matnet_output_kind(const matnet_model *model);
size_t matnet_output_rank(const matnet_model *model);
size_t matnet_output_side(const matnet_model *model, size_t axis);

/* The names of classes, labels or values; none for matrices. They are valid as long as the model; NULL beyond the last. */
size_t matnet_name_count(const matnet_model *model);
const char *matnet_name(const matnet_model *model, size_t index);

/*
 * Predicts for a batch. `shape` has `rank` sides, the batch first: [batch, rows, cols] or [batch, time, rows, cols].
 * `lengths` are the steps of each sequence, whose rest is padding; NULL if all of them count.
 * Free the prediction with matnet_prediction_free.
 */
matnet_status matnet_predict(const matnet_model *model, const float *input, const size_t *shape, size_t rank,
                             const size_t *lengths, matnet_prediction **prediction);

/* The numbers of a prediction and its sides, the batch first. They are valid as long as the prediction. */
const float *matnet_prediction_values(const matnet_prediction *prediction);
size_t matnet_prediction_rank(const matnet_prediction *prediction);
const size_t *matnet_prediction_shape(const matnet_prediction *prediction);

/* The most probable class of each sample, or of each step that counts; none without classes. */
size_t matnet_prediction_class_count(const matnet_prediction *prediction);
const uint32_t *matnet_prediction_classes(const matnet_prediction *prediction);

/* Frees a prediction; NULL is allowed. */
void matnet_prediction_free(matnet_prediction *prediction);

#ifdef __cplusplus
}
#endif

#endif
