"""The keywords of the estimators; ``tools/make_stubs.py`` writes this file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matnet.callbacks import CallbackLike

@dataclass(frozen=True)
class Spec:
    kinds: tuple[str, ...]
    own: tuple[str, ...] = ...
    defaults: dict[str, Any] = ...
    without: tuple[str, ...] = ...

@dataclass(frozen=True)
class Option:
    section: str
    key: str
    default: Any
    type: str
    help: str

LEFT_OUT: dict[str, set[str]]
DATA_KEYS: tuple[str, ...]
RENAMED: dict[tuple[str, str], str]
OWN: dict[str, tuple[Any, str, str]]
TRAILING: tuple[str, ...]
SPECS: dict[str, Spec]
WIDER: set[str]
NUMBERS: set[str]

def options(estimator: str) -> dict[str, Option]: ...
def own_arguments(estimator: str) -> dict[str, tuple[Any, str, str]]: ...
def arguments(estimator: str) -> dict[str, tuple[Any, str, str]]: ...
def annotation(name: str, kind: str) -> str: ...
def parameters(estimator: str) -> type: ...
def described(estimator: str) -> str: ...

class MatrixClassifierParameters:
    shape: tuple[int, int] | None
    form: str | None
    hidden: Any
    depth: int | None
    activation: str | None
    output_activation: Any
    skip: str | None
    block: int | None
    reach: Any
    batch_norm: bool | None
    batch_norm_bias_init: Any
    input_dropout: float | None
    dropout: float | None
    tied: bool | None
    init: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    missing: str | None
    missing_mask: bool | None
    log: Any
    spectrogram: Any
    log_mel: Any
    augment: Any
    permute: bool | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        shape: tuple[int, int] | None = None,
        form: str | None = None,
        hidden: Any = None,
        depth: int | None = None,
        activation: str | None = None,
        output_activation: Any = None,
        skip: str | None = None,
        block: int | None = None,
        reach: Any = None,
        batch_norm: bool | None = None,
        batch_norm_bias_init: Any = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        tied: bool | None = None,
        init: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = None,
        scale_per: str | None = None,
        missing: str | None = None,
        missing_mask: bool | None = None,
        log: Any = None,
        spectrogram: Any = None,
        log_mel: Any = None,
        augment: Any = None,
        permute: bool | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class MatrixRegressorParameters:
    shape: tuple[int, int] | None
    form: str | None
    hidden: Any
    depth: int | None
    activation: str | None
    output_activation: Any
    skip: str | None
    block: int | None
    reach: Any
    batch_norm: bool | None
    batch_norm_bias_init: Any
    input_dropout: float | None
    dropout: float | None
    tied: bool | None
    init: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    scale_target: bool | None
    missing: str | None
    missing_mask: bool | None
    log: Any
    spectrogram: Any
    log_mel: Any
    augment: Any
    permute: bool | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        shape: tuple[int, int] | None = None,
        form: str | None = None,
        hidden: Any = None,
        depth: int | None = None,
        activation: str | None = None,
        output_activation: Any = None,
        skip: str | None = None,
        block: int | None = None,
        reach: Any = None,
        batch_norm: bool | None = None,
        batch_norm_bias_init: Any = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        tied: bool | None = None,
        init: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = None,
        scale_per: str | None = None,
        scale_target: bool | None = None,
        missing: str | None = None,
        missing_mask: bool | None = None,
        log: Any = None,
        spectrogram: Any = None,
        log_mel: Any = None,
        augment: Any = None,
        permute: bool | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class SequenceClassifierParameters:
    shape: tuple[int, int] | None
    form: str | None
    hidden: Any
    cell: str | None
    activation: Any
    output_activation: Any
    layers: int | None
    bidirectional: bool | None
    projection: Any
    projection_activation: Any
    input_dropout: float | None
    dropout: float | None
    forget_bias: float | None
    init: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    missing: str | None
    missing_mask: bool | None
    log: Any
    spectrogram: Any
    log_mel: Any
    augment: Any
    permute: bool | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        shape: tuple[int, int] | None = None,
        form: str | None = None,
        hidden: Any = None,
        cell: str | None = None,
        activation: Any = None,
        output_activation: Any = None,
        layers: int | None = None,
        bidirectional: bool | None = None,
        projection: Any = None,
        projection_activation: Any = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        forget_bias: float | None = None,
        init: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = None,
        scale_per: str | None = None,
        missing: str | None = None,
        missing_mask: bool | None = None,
        log: Any = None,
        spectrogram: Any = None,
        log_mel: Any = None,
        augment: Any = None,
        permute: bool | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class SequenceRegressorParameters:
    shape: tuple[int, int] | None
    form: str | None
    hidden: Any
    cell: str | None
    activation: Any
    output_activation: str | None
    layers: int | None
    bidirectional: bool | None
    projection: Any
    projection_activation: Any
    input_dropout: float | None
    dropout: float | None
    forget_bias: float | None
    init: str | None
    decoder_state: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    scale_target: bool | None
    missing: str | None
    missing_mask: bool | None
    log: Any
    spectrogram: Any
    log_mel: Any
    augment: Any
    permute: bool | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        shape: tuple[int, int] | None = None,
        form: str | None = None,
        hidden: Any = None,
        cell: str | None = None,
        activation: Any = None,
        output_activation: str | None = None,
        layers: int | None = None,
        bidirectional: bool | None = None,
        projection: Any = None,
        projection_activation: Any = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        forget_bias: float | None = None,
        init: str | None = None,
        decoder_state: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = None,
        scale_per: str | None = None,
        scale_target: bool | None = None,
        missing: str | None = None,
        missing_mask: bool | None = None,
        log: Any = None,
        spectrogram: Any = None,
        log_mel: Any = None,
        augment: Any = None,
        permute: bool | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class MatrixAutoEncoderParameters:
    shape: tuple[int, int] | None
    form: str | None
    hidden: Any
    depth: int | None
    activation: str | None
    output_activation: str | None
    noise: str | None
    noise_ratio: float | None
    init: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    missing: str | None
    missing_mask: bool | None
    log: Any
    spectrogram: Any
    log_mel: Any
    augment: Any
    permute: bool | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        shape: tuple[int, int] | None = None,
        form: str | None = None,
        hidden: Any = None,
        depth: int | None = None,
        activation: str | None = None,
        output_activation: str | None = None,
        noise: str | None = None,
        noise_ratio: float | None = None,
        init: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = None,
        scale_per: str | None = None,
        missing: str | None = None,
        missing_mask: bool | None = None,
        log: Any = None,
        spectrogram: Any = None,
        log_mel: Any = None,
        augment: Any = None,
        permute: bool | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class GraphClassifierParameters:
    kind: str
    hidden: Any
    depth: int | None
    aggregation: str | None
    heads: int | None
    num_neighbors: int | None
    tied: bool | None
    activation: str | None
    input_dropout: float | None
    dropout: float | None
    init: str | None
    order: int | None
    lambda_max: str | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: Any
    loss: Any
    huber_delta: Any
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: str | None
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    normalize: str | None
    sampled_neighbors: int | None
    edge_dropout: float | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        kind: str = "column-net",
        hidden: Any = None,
        depth: int | None = None,
        aggregation: str | None = None,
        heads: int | None = None,
        num_neighbors: int | None = None,
        tied: bool | None = None,
        activation: str | None = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        init: str | None = None,
        order: int | None = None,
        lambda_max: str | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: Any = None,
        loss: Any = None,
        huber_delta: Any = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: str | None = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        normalize: str | None = None,
        sampled_neighbors: int | None = None,
        edge_dropout: float | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...

class ForecasterParameters:
    kind: str
    horizon: int
    form: str | None
    hidden: Any
    cell: str | None
    activation: str | None
    output_activation: str | None
    layers: int | None
    decoder_state: str | None
    input_dropout: float | None
    dropout: float | None
    forget_bias: float | None
    init: str | None
    depth: int | None
    skip: str | None
    block: int | None
    reach: Any
    batch_norm: bool | None
    batch_norm_bias_init: Any
    tied: bool | None
    epochs: int | None
    batch_size: int | None
    bucket_by_length: bool | None
    loss: str | None
    huber_delta: float | None
    label_smoothing: float | None
    reduction: Any
    precision: Any
    checkpointing: bool | None
    saved_activations: str | None
    optimizer: str | None
    learning_rate: float | None
    beta_1: float | None
    beta_2: float | None
    epsilon: float | None
    momentum: float | None
    weight_decay: float | None
    schedule: str | None
    warmup_epochs: float | None
    min_learning_rate: float | None
    gamma: float | None
    step_size: float | None
    restart_epochs: float | None
    restart_factor: int | None
    grad_clip_norm: float | None
    grad_clip_norm_per_param: Any
    l1: float | None
    l2: float | None
    regularize_only: Any
    patience: int | None
    monitor: str | None
    ema_decay: float | None
    learning_rate_multipliers: Any
    class_weights: Any
    from_run: str | None
    freeze: Any
    scale: str | None
    scale_per: str | None
    augment: Any
    window: int | None
    normalize_window: str | None
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: bool
    callbacks: Sequence[CallbackLike] | None
    def __init__(
        self,
        *,
        kind: str = "seq2seq",
        horizon: int = 1,
        form: str | None = None,
        hidden: Any = None,
        cell: str | None = None,
        activation: str | None = None,
        output_activation: str | None = None,
        layers: int | None = None,
        decoder_state: str | None = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        forget_bias: float | None = None,
        init: str | None = None,
        depth: int | None = None,
        skip: str | None = None,
        block: int | None = None,
        reach: Any = None,
        batch_norm: bool | None = None,
        batch_norm_bias_init: Any = None,
        tied: bool | None = None,
        epochs: int | None = 100,
        batch_size: int | None = None,
        bucket_by_length: bool | None = None,
        loss: str | None = None,
        huber_delta: float | None = None,
        label_smoothing: float | None = None,
        reduction: Any = None,
        precision: Any = None,
        checkpointing: bool | None = None,
        saved_activations: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        beta_1: float | None = None,
        beta_2: float | None = None,
        epsilon: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        schedule: str | None = None,
        warmup_epochs: float | None = None,
        min_learning_rate: float | None = None,
        gamma: float | None = None,
        step_size: float | None = None,
        restart_epochs: float | None = None,
        restart_factor: int | None = None,
        grad_clip_norm: float | None = None,
        grad_clip_norm_per_param: Any = None,
        l1: float | None = None,
        l2: float | None = None,
        regularize_only: Any = None,
        patience: int | None = None,
        monitor: str | None = None,
        ema_decay: float | None = None,
        learning_rate_multipliers: Any = None,
        class_weights: Any = None,
        from_run: str | None = None,
        freeze: Any = None,
        scale: str | None = "standardize",
        scale_per: str | None = None,
        augment: Any = None,
        window: int | None = 32,
        normalize_window: str | None = None,
        validation_fraction: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[CallbackLike] | None = None,
    ) -> None: ...
