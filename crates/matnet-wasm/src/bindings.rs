//! What JavaScript sees. Every function checks its arguments and throws an `Error` that says what is wrong.

use wasm_bindgen::prelude::*;

use crate::{EpochScore, Matrix, NodeNet, Run, SampleNet, SequenceNet, Trainer};

type JsResult<T> = Result<T, JsError>;

/// A panic becomes an exception with its message, in place of "unreachable".
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}

/// Whether this module was compiled for 128-bit vectors.
#[wasm_bindgen(js_name = hasSimd)]
pub fn has_simd() -> bool {
    cfg!(target_feature = "simd128")
}

/// A matrix with a name.
#[wasm_bindgen(js_name = Matrix, getter_with_clone)]
pub struct JsMatrix {
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<f32>,
}

impl From<Matrix> for JsMatrix {
    fn from(Matrix { name, rows, cols, values }: Matrix) -> Self {
        Self { name, rows, cols, values }
    }
}

fn matrices(matrices: Vec<Matrix>) -> Vec<JsMatrix> {
    matrices.into_iter().map(JsMatrix::from).collect()
}

/// What a net gives, and the states of its layers.
#[wasm_bindgen(js_name = Prediction)]
pub struct JsPrediction {
    values: Vec<f32>,
    states: Vec<Matrix>,
}

#[wasm_bindgen(js_class = Prediction)]
impl JsPrediction {
    /// Probabilities, or matrices one after another.
    #[wasm_bindgen(getter)]
    pub fn values(&self) -> Vec<f32> {
        self.values.clone()
    }

    /// The states, in the order in which they were computed.
    #[wasm_bindgen(getter)]
    pub fn states(&self) -> Vec<JsMatrix> {
        matrices(self.states.clone())
    }
}

/// A trained `feedforward` net.
#[wasm_bindgen(js_name = SampleNet)]
pub struct JsSampleNet(SampleNet);

#[wasm_bindgen(js_class = SampleNet)]
impl JsSampleNet {
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, weights: Vec<u8>) -> JsResult<JsSampleNet> {
        Ok(Self(SampleNet::new(&Run::new(config, weights)?)?))
    }

    #[wasm_bindgen(getter)]
    pub fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> usize {
        self.0.parameters()
    }

    pub fn predict(&self, values: Vec<f32>) -> JsResult<JsPrediction> {
        let (values, states) = self.0.predict(values)?;
        Ok(JsPrediction { values, states })
    }

    pub fn maps(&self) -> Vec<JsMatrix> {
        matrices(self.0.maps())
    }
}

/// A trained `seq2seq` net.
#[wasm_bindgen(js_name = SequenceNet)]
pub struct JsSequenceNet(SequenceNet);

#[wasm_bindgen(js_class = SequenceNet)]
impl JsSequenceNet {
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, weights: Vec<u8>) -> JsResult<JsSequenceNet> {
        Ok(Self(SequenceNet::new(&Run::new(config, weights)?)?))
    }

    #[wasm_bindgen(getter, js_name = contextLength)]
    pub fn context_length(&self) -> usize {
        self.0.context_length()
    }

    #[wasm_bindgen(getter)]
    pub fn steps(&self) -> usize {
        self.0.steps()
    }

    #[wasm_bindgen(getter)]
    pub fn sides(&self) -> Vec<usize> {
        self.0.sides().to_vec()
    }

    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> usize {
        self.0.parameters()
    }

    pub fn predict(&self, context: Vec<f32>, steps: usize) -> JsResult<JsPrediction> {
        let (values, states) = self.0.predict(context, steps)?;
        Ok(JsPrediction { values, states })
    }
}

/// A trained `column-net` with its graph.
#[wasm_bindgen(js_name = NodeNet)]
pub struct JsNodeNet(NodeNet);

#[wasm_bindgen(js_class = NodeNet)]
impl JsNodeNet {
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, weights: Vec<u8>, graph: &[u8]) -> JsResult<JsNodeNet> {
        Ok(Self(NodeNet::new(&Run::new(config, weights)?, graph)?))
    }

    #[wasm_bindgen(getter)]
    pub fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> usize {
        self.0.parameters()
    }

    #[wasm_bindgen(getter)]
    pub fn depth(&self) -> usize {
        self.0.depth()
    }

    #[wasm_bindgen(getter)]
    pub fn heads(&self) -> usize {
        self.0.heads()
    }

    #[wasm_bindgen(getter)]
    pub fn probabilities(&self) -> Vec<f32> {
        self.0.probabilities().to_vec()
    }

    pub fn neighbors(&self, node: usize) -> JsResult<Vec<u32>> {
        Ok(self.0.neighbors(node)?)
    }

    pub fn attention(&self, layer: usize, node: usize) -> JsResult<Vec<f32>> {
        Ok(self.0.attention(layer, node)?)
    }
}

/// The score of an epoch.
#[wasm_bindgen(js_name = EpochScore)]
pub struct JsEpochScore(EpochScore);

#[wasm_bindgen(js_class = EpochScore)]
impl JsEpochScore {
    #[wasm_bindgen(getter)]
    pub fn epoch(&self) -> usize {
        self.0.epoch
    }

    #[wasm_bindgen(getter, js_name = trainLoss)]
    pub fn train_loss(&self) -> f64 {
        self.0.train_loss
    }

    #[wasm_bindgen(getter, js_name = testLoss)]
    pub fn test_loss(&self) -> f64 {
        self.0.test_loss
    }

    #[wasm_bindgen(getter, js_name = testError)]
    pub fn test_error(&self) -> f64 {
        self.0.test_error
    }
}

/// A net that is trained a few steps at a time.
#[wasm_bindgen(js_name = Trainer)]
pub struct JsTrainer(Trainer);

#[wasm_bindgen(js_class = Trainer)]
impl JsTrainer {
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, inputs: Vec<f32>, labels: Vec<u8>, train: usize) -> JsResult<JsTrainer> {
        Ok(Self(Trainer::new(config, inputs, labels, train)?))
    }

    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> usize {
        self.0.parameters()
    }

    pub fn steps(&mut self, count: usize) -> JsResult<Option<JsEpochScore>> {
        Ok(self.0.steps(count)?.map(JsEpochScore))
    }
}
