//! `matnet devices`

use std::io::{self, Write};

use burn::tensor::{Device, FloatDType};
use matnet::device::{GPU_BACKENDS, gpus, name};
use matnet_report::text;

use crate::failure::Outcome;

/// Lists the devices of this machine, and what this build does not look for.
pub fn run() -> Outcome {
    let mut out = io::stdout().lock();
    let threads = text::counted(rayon::current_num_threads(), "thread");
    let simd = matnet::simd_level();
    writeln!(out, "{:8}  the CPU, {threads}, SIMD {simd}; {}", "flex", precisions(&Device::flex()))?;
    for backend in GPU_BACKENDS {
        match gpus(backend) {
            None => writeln!(
                out,
                "{backend:8}  not in this build; `cargo build --release --features {backend}` adds it"
            )?,
            Some(found) if found.is_empty() => writeln!(out, "{backend:8}  no device found")?,
            Some(found) => {
                for (number, device) in found.iter().enumerate() {
                    let selector = format!("{backend}:{number}");
                    writeln!(out, "{selector:8}  {}; {}", name(device), precisions(device))?;
                }
            }
        }
    }
    Ok(())
}

/// The floats that a device computes with.
fn precisions(device: &Device) -> String {
    let all = [("f32", FloatDType::F32), ("f16", FloatDType::F16), ("bf16", FloatDType::BF16)];
    let has = all.into_iter().filter(|(_, dtype)| device.supports_dtype(*dtype)).map(|(name, _)| name);
    has.collect::<Vec<_>>().join(", ")
}
