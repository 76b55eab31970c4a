//! Datasets for matnet: fetch, verify, parse, split, transform.
