//! What a task adds to the reports of its runs.

#[cfg(feature = "report")]
use {
    super::{
        Evaluation, ExampleMatrices, FigureKind, Fitted, Loaded, NetOf, PredictRequest, Task, TaskFigure,
    },
    crate::{Result, Split},
    burn::tensor::Device,
    matnet_report::page::Page,
};

/// What a task adds to the reports of its runs.
#[cfg(feature = "report")]
pub trait TaskReport: Sized {
    /// What a trained net attends to in the first `count` examples of a file, a figure for each; empty for nets without attention.
    fn attention(_loaded: &Loaded<Self>, _request: &PredictRequest, _count: usize) -> Result<Vec<TaskFigure>>
    where
        Self: Task,
    {
        Ok(Vec::new())
    }

    /// Facts about the dataset and the net, for the head of a report.
    fn report_facts(&self, net: &NetOf<Self>) -> Vec<(&'static str, String)>
    where
        Self: Task;

    /// Sections of the report that only this kind of task has.
    fn report_sections(
        &self,
        _fitted: &Fitted<Self>,
        _evaluation: Option<(&Evaluation, Split)>,
        _page: &mut Page,
    ) -> Result<()>
    where
        Self: Task,
    {
        Ok(())
    }

    /// Inputs, targets and outputs of some examples, if they are matrices.
    fn matrices(
        &self,
        _net: &NetOf<Self>,
        _examples: &[usize],
        _device: &Device,
    ) -> Result<Option<ExampleMatrices>>
    where
        Self: Task,
    {
        Ok(None)
    }

    /// Figures of one kind; empty if the task has none.
    fn figures(&self, _fitted: &Fitted<Self>, _kind: FigureKind) -> Result<Vec<TaskFigure>>
    where
        Self: Task,
    {
        Ok(Vec::new())
    }
}

/// Without the feature `report`, nothing.
#[cfg(not(feature = "report"))]
pub trait TaskReport {}

#[cfg(not(feature = "report"))]
impl<T> TaskReport for T {}
