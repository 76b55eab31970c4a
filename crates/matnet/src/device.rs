//! Devices by name: `flex` is the CPU, `wgpu:0` the first GPU that wgpu finds.

use burn::tensor::Device;

/// The backends for GPUs. Each is a cargo feature of the same name.
pub const GPU_BACKENDS: [&str; 3] = ["wgpu", "cuda", "rocm"];

/// Why there is no device of some name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoDevice(String);

/// The device of this name: `flex`, or a backend with the number of a GPU, `wgpu:0`; without a number it is the first.
///
/// ```
/// use burn::tensor::Device;
/// use matnet::device::find;
///
/// assert_eq!(find("flex")?, Device::flex());
/// assert!(find("abacus").is_err());
/// # Ok::<(), matnet::device::NoDevice>(())
/// ```
pub fn find(name: &str) -> Result<Device, NoDevice> {
    look_up(name).map_err(NoDevice)
}

fn look_up(name: &str) -> Result<Device, String> {
    let (backend, number) = match name.split_once(':') {
        Some((backend, number)) => (backend, Some(number)),
        None => (name, None),
    };
    if backend == "flex" {
        return match number {
            None => Ok(Device::flex()),
            Some(_) => Err("the CPU has no number; `flex` is all of it".to_owned()),
        };
    }
    if !GPU_BACKENDS.contains(&backend) {
        return Err(format!("no such device; there are flex, {}", GPU_BACKENDS.join(", ")));
    }
    let wanted = match number.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(number)) => number,
        Some(Err(_)) => return Err(format!("a number expected after the colon, like {backend}:0")),
    };
    let Some(found) = gpus(backend) else {
        return Err(format!(
            "this build has no {backend}; build it with `cargo build --release --features {backend}`"
        ));
    };
    let count = found.len();
    found.into_iter().nth(wanted).ok_or_else(|| match count {
        0 => format!("{backend} finds no device on this machine; flex is the CPU"),
        1 => format!("there is only {backend}:0"),
        _ => format!("there are {backend}:0 to {backend}:{}; `matnet devices` lists them", count - 1),
    })
}

/// The GPUs that a backend finds on this machine, in the order of their numbers: for wgpu discrete ones first, and drivers that run
/// on the CPU last. `None` if this build is without that backend.
pub fn gpus(backend: &str) -> Option<Vec<Device>> {
    match backend {
        #[cfg(feature = "wgpu")]
        "wgpu" => {
            let mut found = Device::enumerate(burn::tensor::DeviceType::Wgpu).into_vec();
            found.sort_by_key(order);
            Some(found)
        }
        #[cfg(feature = "cuda")]
        "cuda" => Some(Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec()),
        #[cfg(feature = "rocm")]
        "rocm" => Some(Device::enumerate(burn::tensor::DeviceType::Rocm).into_vec()),
        _ => None,
    }
}

/// Graphics cards before drivers that only look like one.
#[cfg(feature = "wgpu")]
fn order(device: &Device) -> usize {
    use burn::backend::{CubeDevice, DispatchDevice, WgpuDeviceKind};
    match device.as_dispatch() {
        DispatchDevice::Cube(CubeDevice::Wgpu(wgpu)) => match wgpu.kind {
            WgpuDeviceKind::DiscreteGpu(_) => 0,
            WgpuDeviceKind::IntegratedGpu(_) => 1,
            WgpuDeviceKind::VirtualGpu(_) => 2,
            WgpuDeviceKind::Cpu => 4,
            _ => 3,
        },
        _ => 5,
    }
}

/// What a device calls itself: `flex` for the CPU, else the name of the part. Opens the device.
pub fn name(device: &Device) -> String {
    if *device == Device::flex() {
        return "flex".to_owned();
    }
    #[cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu"))]
    if let Some(identity) = device.identity() {
        return identity.name;
    }
    format!("{device:?}")
}
