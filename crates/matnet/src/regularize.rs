//! L1 and L2 regularisation of the weights of a net.

use std::collections::BTreeSet;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;

use crate::summary::LayerSummary;
use crate::weights::Path;

/// l1 · Σ|w| + l2 · Σw² over the regularised weights w of a net, to be added to the loss.
///
/// The layers say which of their parameters are weights ([`LayerSummary::regularized`]): the maps U, V and W. Biases,
/// the scale and shift of batch norm and the scores of dense skips are not regularised.
///
/// ```
/// use burn::tensor::Device;
/// use matnet::prelude::*;
///
/// let layer = MatLinearConfig::new([2, 3], [2, 3])
///     .with_bias_init(100.0)
///     .init(&mut SeededRng::new(42, "init"), &Device::flex())?;
/// // U and V are initialised as orthogonal matrices: Σw² = 2 + 3.
/// let regularizer = Regularizer::new(&layer.summarize("", 1), 0.0, 0.1);
/// let loss = regularizer.loss(&layer).unwrap().into_scalar::<f32>();
/// assert!((loss - 0.5).abs() < 1e-6);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Regularizer {
    l1: f64,
    l2: f64,
    names: BTreeSet<String>,
}

impl Regularizer {
    /// Regularises all weights that a summary names.
    pub fn new(summary: &[LayerSummary], l1: f64, l2: f64) -> Self {
        let names = summary.iter().flat_map(|layer| layer.regularized.iter().cloned()).collect();
        Self { l1, l2, names }
    }

    /// Leaves out the weights whose stored names do not begin with `prefix`. The authors of GCN regularise `layer.0`,
    /// the first layer, only.
    pub fn only(mut self, prefix: &str) -> Self {
        self.names.retain(|name| name.starts_with(prefix));
        self
    }

    /// The stored names of the weights that are regularised, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The term to add to the loss; `None` if both factors are 0 or there is no weight to regularise.
    pub fn loss<M: Module>(&self, module: &M) -> Option<Tensor<1>> {
        if self.l1 == 0.0 && self.l2 == 0.0 {
            return None;
        }
        let mut sum = Sum { path: Path::default(), regularizer: self, total: None };
        module.visit(&mut sum);
        sum.total
    }
}

struct Sum<'a> {
    path: Path,
    regularizer: &'a Regularizer,
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
        let Regularizer { l1, l2, names } = self.regularizer;
        if !names.contains(&self.path.name()) {
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
        if *l1 != 0.0 {
            add(*l1, weight.clone().abs().sum());
        }
        if *l2 != 0.0 {
            add(*l2, (weight.clone() * weight).sum());
        }
    }
}
