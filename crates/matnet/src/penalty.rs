//! L1 and L2 penalties on the weights of a net.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;

use crate::weights::Path;

/// l1 · Σ|w| + l2 · Σw² over all weights w of the module, to be added to a loss.
///
/// Weights are the maps: U, V, and W of vector layers. Biases, the scales and shifts of batch norm and the
/// scores of dense skips are left alone. `None` when both factors are 0 or the module has no weights.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::{layer::MatLinearConfig, penalty, random::SeededRng};
///
/// let layer = MatLinearConfig::new([2, 3], [2, 3])
///     .with_bias_init(100.0)
///     .init(&mut SeededRng::new(42, "init"), &Device::flex())?;
/// // U and V start orthogonal: Σw² = 2 + 3.
/// let l2 = penalty(&layer, 0.0, 0.1).unwrap().into_scalar::<f32>();
/// assert!((l2 - 0.5).abs() < 1e-6);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
pub fn penalty<M: Module>(module: &M, l1: f64, l2: f64) -> Option<Tensor<1>> {
    penalty_below(module, "", l1, l2)
}

/// [`penalty`] of those weights only whose stored names begin with `start`: `layer.0` is the first layer of a GCN, which
/// is where its authors put theirs.
pub fn penalty_below<M: Module>(module: &M, start: &str, l1: f64, l2: f64) -> Option<Tensor<1>> {
    if l1 == 0.0 && l2 == 0.0 {
        return None;
    }
    let mut sum = Sum { path: Path::default(), start, l1, l2, total: None };
    module.visit(&mut sum);
    sum.total
}

struct Sum<'a> {
    path: Path,
    start: &'a str,
    l1: f64,
    l2: f64,
    total: Option<Tensor<1>>,
}

impl ModuleVisitor for Sum<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.name();
        if !is_weight(&name) || !name.starts_with(self.start) {
            return;
        }
        let weight = param.val();
        let mut add = |factor: f64, part: Tensor<1>| {
            let part = part * factor;
            self.total = Some(match self.total.take() {
                Some(total) => total + part,
                None => part,
            });
        };
        if self.l1 != 0.0 {
            add(self.l1, weight.clone().abs().sum());
        }
        if self.l2 != 0.0 {
            add(self.l2, (weight.clone() * weight).sum());
        }
    }
}

/// Maps are named so.
fn is_weight(name: &str) -> bool {
    name.ends_with("_map") || name.ends_with("weight")
}
