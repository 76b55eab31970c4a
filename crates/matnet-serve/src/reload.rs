//! Runs that change are loaded again.

use std::sync::Arc;
use std::time::Duration;

use crate::model::Model;

/// Looks at the runs of some models now and then, and loads those that changed. Stops with the runtime.
pub struct Reloader {
    pub models: Vec<Arc<Model>>,
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Reloader {
    /// Looks, for ever.
    pub async fn run(self, every: Duration) {
        let mut looker = self;
        loop {
            tokio::time::sleep(every).await;
            // Files and nets are slow; the threads of the network must not wait for them.
            let looked = tokio::task::spawn_blocking(move || {
                looker.look();
                looker
            });
            match looked.await {
                Ok(back) => looker = back,
                Err(_) => return,
            }
        }
    }

    fn look(&self) {
        for model in self.models.iter().filter(|model| model.has_changed()) {
            let folder = model.run.folder().display();
            match model.load() {
                Ok(()) => {
                    model.metrics.reloads.add(1);
                    let current = model.current();
                    (self.log)(&format!(
                        "{}: {folder} has changed; version {} of epoch {} answers now",
                        model.name, current.version, current.epoch
                    ));
                }
                Err(error) => {
                    model.metrics.failed_reloads.add(1);
                    let version = &model.current().version;
                    (self.log)(&format!(
                        "{}: {folder} has changed and cannot be loaded: {error}; version {version} goes on",
                        model.name
                    ));
                }
            }
        }
    }
}
