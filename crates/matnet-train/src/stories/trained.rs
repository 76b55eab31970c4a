//! A trained memory net, ready to be used.

use std::sync::Arc;

use burn::tensor::Device;
use matnet::Mode;
use matnet_data::Array;

use super::{PreparedStories, StoryModel, StoryModelConfig, StoryNote, StoryTask};
use crate::Result;
use crate::config::TrainConfig;
use crate::run::Answers;
use crate::task;

/// A trained net on stories, and what belongs to it.
#[derive(Debug)]
pub struct TrainedOnStories {
    /// The net.
    pub net: StoryModel,
    /// Its config.
    pub config: StoryModelConfig,
    /// What else there is to know.
    pub note: StoryNote,
    pub(crate) device: Device,
}

/// Where a net looked for the answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// The number of the first sentence that the memory kept; those before it were lost.
    pub first: usize,
    /// For every hop and head, a share for each sentence that was kept.
    pub shares: Vec<Vec<Vec<f32>>>,
}

impl TrainedOnStories {
    /// What the net was trained to do, on these stories.
    pub fn task(&self, data: PreparedStories, train: &TrainConfig) -> Result<StoryTask> {
        StoryTask::new(Arc::new(data), self.config.clone(), train)
    }

    /// A word and the probabilities of all words for some questions, their answers known or not.
    pub fn answer(&self, data: &PreparedStories, examples: &[usize]) -> Result<Answers> {
        let scores = self.net.forward(data.batch(examples), &mut Mode::Eval);
        let given = scores.dims()[1];
        let classes = task::answers(&task::numbers(scores.clone()), given);
        let shares = task::probabilities(scores);
        let shape = shares.dims().to_vec();
        Ok(Answers { numbers: Array::new(shape, task::numbers(shares))?, classes })
    }

    /// Where the net looks, for some questions. A memory network looks at one sentence a hop, or at none.
    pub fn looked(&self, data: &PreparedStories, examples: &[usize]) -> Vec<Looked> {
        let batch = data.batch(examples);
        let told = |at: usize| data.told(&data.examples[examples[at]]).len();
        let kept = |at: usize| told(at).min(self.config.memory());
        let shares: Vec<Vec<Vec<Vec<f32>>>> = match &self.net {
            StoryModel::EndToEnd(net) => net.attention(&batch),
            StoryModel::MemoryNetwork(net) => {
                let hop = |at: usize, chosen: Option<usize>| {
                    let share = |sentence| f32::from(u8::from(Some(sentence) == chosen));
                    vec![(0..kept(at)).map(share).collect()]
                };
                let chosen = net.chosen(&batch).into_iter().enumerate();
                chosen.map(|(at, hops)| hops.into_iter().map(|chosen| hop(at, chosen)).collect()).collect()
            }
        };
        let looked = |(at, shares)| Looked { first: told(at) - kept(at), shares };
        shares.into_iter().enumerate().map(looked).collect()
    }

    /// Where the net lives.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
