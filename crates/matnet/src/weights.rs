//! The parameters of a net by name, and as safetensors.
//!
//! A name is the path to the parameter, as in PyTorch: `layer.0.row_map`, `layer.0.col_map`, `layer.0.bias`. Enum variants
//! and fields named `map` are left out of the path.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::net::Net;

/// Why weights could not be stored or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The bytes are not a safetensors file, or hold a type it does not have.
    #[error("safetensors: {0}")]
    Format(#[from] safetensors::SafeTensorError),
    /// The net has a parameter that the file does not have.
    #[error("{0}: not in the file")]
    Missing(String),
    /// The file has a tensor that the net does not have.
    #[error("{0}: in the file, but the net has no such parameter")]
    Extra(String),
    /// Both have it, in different shapes.
    #[error("{name}: {found:?} in the file, {expected:?} in the net")]
    Shape {
        /// The parameter.
        name: String,
        /// Its shape in the net.
        expected: Vec<usize>,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// Both have it, as numbers of different types.
    #[error("{name}: {found} in the file, {expected} in the net")]
    Type {
        /// The parameter.
        name: String,
        /// Its type in the net.
        expected: String,
        /// Its type in the file.
        found: String,
    },
}

/// Every parameter with its name, in the order of the module's fields, running statistics included.
///
/// ```
/// use burn::tensor::Device;
/// use matnet::prelude::*;
///
/// let net = FeedForwardConfig::new([4, 3], [5, 6], 2).init(&mut SeededRng::new(0, "init"), &Device::flex())?;
/// let names: Vec<String> = matnet::weights::named(&net).into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["layer.0.row_map", "layer.0.col_map", "layer.0.bias", "head.weight", "head.bias"]);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
pub fn named<M: Module>(module: &M) -> Vec<(String, TensorData)> {
    struct Collect {
        path: Path,
        found: Vec<(String, TensorData)>,
    }
    impl ModuleVisitor for Collect {
        fn enter_module(&mut self, name: &str, container: &str) {
            self.path.enter(name, container);
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.exit();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.found.push((self.path.name(), param.val().into_data()));
        }
    }
    let mut collect = Collect { path: Path::default(), found: Vec::new() };
    module.visit(&mut collect);
    collect.found
}

/// The name of every parameter, in the same order.
pub fn names<M: Module>(module: &M) -> Vec<String> {
    struct Names(Path, Vec<String>);
    impl ModuleVisitor for Names {
        fn enter_module(&mut self, name: &str, container: &str) {
            self.0.enter(name, container);
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.0.exit();
        }

        fn visit_float<const D: usize>(&mut self, _param: &Param<Tensor<D>>) {
            self.1.push(self.0.name());
        }
    }
    let mut names = Names(Path::default(), Vec::new());
    module.visit(&mut names);
    names.1
}

/// Whether a parameter of this name is a running statistic of batch norm. A visitor sees those among the parameters, though they are not
/// trained, and their name alone tells.
pub fn is_running_statistic(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|field| field.starts_with("running_"))
}

/// The number of trained parameters of a net, as its layers count them. The running statistics of batch norm, which
/// [`num_params`](Module::num_params) counts too, are not among them.
pub fn count<N: Net>(net: &N) -> usize {
    net.summary(1).iter().map(|layer| layer.parameters).sum()
}

/// The parameters as a safetensors file.
pub fn to_safetensors<M: Module>(module: &M) -> Result<Vec<u8>, WeightsError> {
    let named = named(module);
    let mut views = Vec::new();
    for (name, data) in &named {
        let dtype = dtype(data.dtype()).ok_or_else(|| WeightsError::Type {
            name: name.clone(),
            expected: format!("{:?}", data.dtype()),
            found: "no such type".to_owned(),
        })?;
        views.push((name.clone(), TensorView::new(dtype, data.shape().to_vec(), data.as_bytes())?));
    }
    Ok(safetensors::serialize(views, None)?)
}

/// The module with the parameters of a safetensors file, which must be exactly its own.
pub fn load_safetensors<M: Module>(module: M, bytes: &[u8]) -> Result<M, WeightsError> {
    let file = SafeTensors::deserialize(bytes)?;
    let mut found = HashMap::new();
    for (name, view) in file.tensors() {
        let Some(dtype) = burn_dtype(view.dtype()) else {
            let (expected, found) = ("numbers".to_owned(), format!("{:?}", view.dtype()));
            return Err(WeightsError::Type { name, expected, found });
        };
        let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
        found.insert(name, data);
    }
    load(module, found)
}

/// The module with these parameters, which must be exactly its own.
pub fn load<M: Module>(module: M, mut numbers: HashMap<String, TensorData>) -> Result<M, WeightsError> {
    let mut ordered = Vec::new();
    for (name, data) in named(&module) {
        let new = numbers.remove(&name).ok_or_else(|| WeightsError::Missing(name.clone()))?;
        if new.shape() != data.shape() {
            let (expected, found) = (data.shape().to_vec(), new.shape().to_vec());
            return Err(WeightsError::Shape { name, expected, found });
        }
        if new.dtype() != data.dtype() {
            let (expected, found) = (format!("{:?}", data.dtype()), format!("{:?}", new.dtype()));
            return Err(WeightsError::Type { name, expected, found });
        }
        ordered.push(new);
    }
    if let Some(name) = numbers.into_keys().min() {
        return Err(WeightsError::Extra(name));
    }
    Ok(module.map(&mut Replace(ordered.into_iter())))
}

/// Replaces the parameters in the order of the visit; names, shapes and types were compared before.
struct Replace(std::vec::IntoIter<TensorData>);

impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(data) = self.0.next() else { return param };
        param.map(|old| {
            let new = Tensor::from_data(data, (&old.device(), old.dtype()));
            new.set_require_grad(old.is_require_grad())
        })
    }
}

fn dtype(dtype: DType) -> Option<Dtype> {
    match dtype {
        DType::F64 => Some(Dtype::F64),
        DType::F32 => Some(Dtype::F32),
        DType::F16 => Some(Dtype::F16),
        DType::BF16 => Some(Dtype::BF16),
        _ => None,
    }
}

fn burn_dtype(dtype: Dtype) -> Option<DType> {
    match dtype {
        Dtype::F64 => Some(DType::F64),
        Dtype::F32 => Some(DType::F32),
        Dtype::F16 => Some(DType::F16),
        Dtype::BF16 => Some(DType::BF16),
        _ => None,
    }
}

/// The path of a visit.
#[derive(Default)]
pub(crate) struct Path(Vec<Option<String>>);

impl Path {
    pub(crate) fn enter(&mut self, name: &str, container: &str) {
        let silent = container.starts_with("Enum:") || name == "map";
        self.0.push((!silent).then(|| name.to_owned()));
    }

    pub(crate) fn exit(&mut self) {
        self.0.pop();
    }

    pub(crate) fn name(&self) -> String {
        self.0.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(".")
    }
}
