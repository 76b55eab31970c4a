//! Wrong predictions, counted when somebody asks.

/// The weight of the wrong predictions of a batch: how many, unless samples have weights. Counting reads the predictions from the
/// device and waits until it has computed them, so it is put off.
pub struct Wrong(Box<dyn Fn() -> f64>);

impl Wrong {
    /// What `count` will say.
    pub(crate) fn later(count: impl Fn() -> f64 + 'static) -> Self {
        Self(Box::new(count))
    }

    /// Their weight.
    pub fn weight(&self) -> f64 {
        (self.0)()
    }
}
