//! Which device, and how many threads.

use burn::tensor::Device;

use crate::cli::MachineArgs;
use crate::failure::Failure;

/// Devices by name, as far as this build has them.
const KNOWN: [&str; 4] = ["flex", "wgpu", "cuda", "rocm"];

/// Sets the number of threads and gives the device.
pub fn set_up(args: &MachineArgs) -> Result<Device, Failure> {
    if let Some(threads) = args.threads {
        // Fails only when the pool is there already, which nothing before this made.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    }
    match args.device.as_str() {
        "flex" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(Device::cuda(0)),
        #[cfg(feature = "rocm")]
        "rocm" => Ok(Device::rocm(0)),
        name if KNOWN.contains(&name) => Err(Failure::Usage(format!(
            "--device {name}: this build has no {name}; build it with `cargo build --release --features {name}`"
        ))),
        name => {
            Err(Failure::Usage(format!("--device {name}: no such device; there are {}", KNOWN.join(", "))))
        }
    }
}
