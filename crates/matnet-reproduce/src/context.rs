//! What training and drawing need.

use burn::tensor::Device;
use matnet_data::catalog::Cache;
use matnet_train::Planner;

use crate::time_left::TimeLeft;

/// What training and drawing need.
pub struct Context<'a> {
    pub device: &'a Device,
    pub cache: &'a Cache,
    pub planner: &'a mut Planner,
    pub time: &'a mut TimeLeft,
}
