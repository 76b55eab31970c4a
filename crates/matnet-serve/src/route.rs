//! From a path to an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use serde_json::json;

use crate::budget::Budget;
use crate::http::{Answer, BodyLimits, RequestBody, Whole, answer, json};
use crate::metrics::Metrics;
use crate::model::Model;
use crate::protocol::{InferRequest, JSON_LENGTH, encode};
use crate::refusal::{Allowed, Refusal};
use crate::{Options, page};

/// Knows all models, and who answers what.
pub struct Router {
    models: Vec<Arc<Model>>,
    options: Options,
    bodies: BodyLimits,
    pub metrics: Arc<Metrics>,
    stopping: AtomicBool,
}

impl Router {
    pub fn new(models: Vec<Arc<Model>>, options: Options) -> Self {
        let bodies = BodyLimits {
            bytes: options.max_body,
            together: Budget::new(options.max_bodies),
            timeout: options.timeout,
        };
        Self { models, options, bodies, metrics: Arc::default(), stopping: AtomicBool::new(false) }
    }

    pub fn models(&self) -> &[Arc<Model>] {
        &self.models
    }

    /// From now on the server is not ready for more requests.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The answer to a request, whatever it is.
    pub async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let mut body = RequestBody::new(body, &head.headers, &self.bodies);
        let answer = match self.route(&head, &mut body).await {
            Ok(answer) => answer,
            Err(refusal) => {
                body.drain().await;
                refusal.into()
            }
        };
        self.metrics.answered(answer.status());
        answer
    }

    async fn route(&self, head: &Parts, body: &mut RequestBody<'_>) -> Allowed<Answer> {
        let path = head.uri.path();
        let parts: Vec<&str> =
            path.strip_prefix('/').unwrap_or(path).trim_end_matches('/').split('/').collect();
        // These say nothing that a stranger may not know; whoever watches the server has no token.
        match parts[..] {
            [""] => return get(&head.method).map(|()| page::index()),
            ["v2", "health", "live"] => return get(&head.method).map(|()| json(&json!({ "live": true }))),
            ["v2", "health", "ready"] => return get(&head.method).and_then(|()| self.ready()),
            _ => self.check_token(&head.headers)?,
        }
        match parts[..] {
            ["v2"] => get(&head.method).map(|()| json(&server_metadata())),
            ["metrics"] => {
                get(&head.method)?;
                let models: Vec<_> = self.models.iter().map(|model| model.metrics_row()).collect();
                let text = self.metrics.text(&models, self.bodies.together.used());
                Ok(answer(StatusCode::OK, "text/plain; version=0.0.4", text))
            }
            ["v2", "models"] => {
                get(&head.method)?;
                let names: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
                Ok(json(&json!({ "models": names })))
            }
            ["v2", "repository", "index"] => post(&head.method).map(|()| self.index()),
            ["v2", "models", name] => self.metadata(&head.method, name, None),
            ["v2", "models", name, "versions", version] => self.metadata(&head.method, name, Some(version)),
            ["v2", "models", name, "ready"] => self.model_ready(&head.method, name, None),
            ["v2", "models", name, "versions", version, "ready"] => {
                self.model_ready(&head.method, name, Some(version))
            }
            ["v2", "models", name, "infer"] => {
                self.infer(&head.method, &head.headers, self.model(name, None)?, None, body).await
            }
            ["v2", "models", name, "versions", version, "infer"] => {
                let model = self.model(name, Some(version))?;
                self.infer(&head.method, &head.headers, model, Some(version), body).await
            }
            ["page", name, "pictures"] => {
                get(&head.method)?;
                page::pictures(self.model(name, None)?).await
            }
            ["page", name, "predict"] => {
                post(&head.method)?;
                let model = self.model(name, None)?;
                let Whole { bytes, held: _held } = body.read().await?;
                page::predict(model, head.uri.query().unwrap_or_default(), bytes).await
            }
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, format!("{path}: nothing is here; /v2 and / are"))),
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> Allowed<()> {
        let presented = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
        match self.options.token.as_ref().is_none_or(|token| token.is_presented_by(presented)) {
            true => Ok(()),
            false => {
                let what = "this server asks for a token; the header `Authorization: Bearer TOKEN` expected";
                Err(Refusal::new(StatusCode::UNAUTHORIZED, what))
            }
        }
    }

    fn ready(&self) -> Allowed<Answer> {
        match self.stopping.load(Ordering::Relaxed) {
            false => Ok(json(&json!({ "ready": true }))),
            true => Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping")),
        }
    }

    /// The model of a name, if it has this version.
    fn model(&self, name: &str, version: Option<&str>) -> Allowed<&Model> {
        let Some(model) = self.models.iter().find(|model| model.name == name) else {
            let names = self.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(Refusal::new(
                StatusCode::NOT_FOUND,
                format!("model {name}: no such model; there are {names}"),
            ));
        };
        let current = model.current();
        check_version(name, version, &current.version).map(|()| &**model)
    }

    fn metadata(&self, method: &Method, name: &str, version: Option<&str>) -> Allowed<Answer> {
        get(method)?;
        Ok(json(&self.model(name, version)?.current().metadata))
    }

    fn model_ready(&self, method: &Method, name: &str, version: Option<&str>) -> Allowed<Answer> {
        get(method)?;
        self.ready()?;
        let model = self.model(name, version)?;
        Ok(json(&json!({ "name": model.name, "ready": true })))
    }

    fn index(&self) -> Answer {
        let one = |model: &Arc<Model>| json!({ "name": model.name, "version": model.current().version, "state": "READY", "reason": "" });
        json(&self.models.iter().map(one).collect())
    }

    async fn infer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        model: &Model,
        version: Option<&str>,
        body: &mut RequestBody<'_>,
    ) -> Allowed<Answer> {
        post(method)?;
        let began = Instant::now();
        model.metrics.requests.add(1);
        let result = self.predict(headers, model, version, body).await;
        match &result {
            Ok(_) => model.metrics.request_seconds.add(began.elapsed()),
            Err(_) => model.metrics.failed.add(1),
        }
        result
    }

    async fn predict(
        &self,
        headers: &HeaderMap,
        model: &Model,
        version: Option<&str>,
        body: &mut RequestBody<'_>,
    ) -> Allowed<Answer> {
        if let Some(encoding) =
            headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity")
        {
            let what = format!("content-encoding {encoding:?}: bodies are not unpacked; identity expected");
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        let json_length = match headers.get(JSON_LENGTH) {
            None => None,
            Some(value) => {
                Some(value.to_str().ok().and_then(|value| value.parse().ok()).ok_or_else(|| {
                    Refusal::bad(format!(
                        "Inference-Header-Content-Length is {value:?}; a number of bytes expected"
                    ))
                })?)
            }
        };
        let Whole { bytes, mut held } = body.read().await?;
        let current = model.current();
        let request = InferRequest::parse(&bytes, json_length, current.tensors()?)?;
        drop(bytes);
        held.grow_for_answer(request.answer_bytes(current.tensors()?))?;
        let (predictions, current) = model.predict(request.inputs, request.lengths).await?;
        // The run may have been loaded again meanwhile.
        check_version(&model.name, version, &current.version)?;
        let (id, interface) = (request.id.as_deref(), current.tensors()?);
        Ok(encode(&model.name, &current.version, id, interface, &predictions, &request.asked, held))
    }
}

fn check_version(name: &str, wanted: Option<&str>, have: &str) -> Allowed<()> {
    match wanted.filter(|wanted| *wanted != have) {
        None => Ok(()),
        Some(wanted) => {
            let what = format!("model {name}: no version {wanted}; the version is {have}");
            Err(Refusal::new(StatusCode::NOT_FOUND, what))
        }
    }
}

fn server_metadata() -> serde_json::Value {
    json!({ "name": "matnet", "version": env!("CARGO_PKG_VERSION"), "extensions": ["binary_tensor_data", "model_repository"] })
}

fn get(method: &Method) -> Allowed<()> {
    let fits = [Method::GET, Method::HEAD].contains(method);
    if fits { Ok(()) } else { Err(Refusal::method(method, "GET, HEAD")) }
}

fn post(method: &Method) -> Allowed<()> {
    if method == Method::POST { Ok(()) } else { Err(Refusal::method(method, "POST")) }
}
