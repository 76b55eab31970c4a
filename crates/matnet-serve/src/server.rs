//! Listening, and the end of it.

use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;

use crate::connection::TimedStream;
use crate::model::Model;
use crate::reload::Reloader;
use crate::route::Router;
use crate::{ModelSpec, Options, ServeError};

/// Callers that may wait to be accepted; beyond them the system makes callers wait for a second or more.
const BACKLOG: u32 = 4096;
/// The pause after a connection could not be accepted, so that those that are open get on.
const PAUSE: Duration = Duration::from_millis(50);

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    router: Arc<Router>,
    options: Options,
}

impl Server {
    /// Loads all models and listens.
    ///
    /// # Errors
    ///
    /// If a run cannot be loaded, two have the same name, or the address cannot be listened on.
    pub fn start(models: &[ModelSpec], options: Options) -> Result<Self, ServeError> {
        if models.is_empty() {
            return Err(ServeError::Usage(
                "there is nothing to serve; the folder of a run expected".to_owned(),
            ));
        }
        for (at, model) in models.iter().enumerate() {
            if let Some(other) = models[..at].iter().find(|other| other.name == model.name) {
                let (name, one, two) = (&model.name, other.run.display(), model.run.display());
                let what = format!(
                    "{one} and {two} would both be called {name}; NAME=PATH gives one of them another name"
                );
                return Err(ServeError::Usage(what));
            }
        }
        if options.max_bodies < options.max_body {
            let what = format!(
                "all bodies together may have fewer bytes ({}) than one ({}); at least as many expected",
                options.max_bodies, options.max_body
            );
            return Err(ServeError::Usage(what));
        }
        let loaded = models.iter().map(|spec| Model::start(spec, &options)).collect::<Result<Vec<_>, _>>()?;
        raise_file_limit();
        let failed = |what: &'static str| move |source| ServeError::Io { what: what.to_owned(), source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("network")
            .build()
            .map_err(failed("cannot start threads"))?;
        let address = options.listen;
        let listener = {
            let _inside = runtime.enter();
            listen(address).map_err(|source| ServeError::Listen { address, source })?
        };
        let address = listener.local_addr().map_err(|source| ServeError::Listen { address, source })?;
        let router = Arc::new(Router::new(loaded, options.clone()));
        Ok(Self { runtime, listener, address, router, options })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` is ready. Then no more connections are accepted, requests in flight are answered, and idle
    /// connections closed.
    ///
    /// # Errors
    ///
    /// If requests were still unfinished after the time that was granted to them.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Self { runtime, listener, router, options, .. } = self;
        let left = runtime.block_on(async {
            if let Some(every) = options.reload_every {
                let reloader = Reloader { models: router.models().to_vec(), log: options.log.clone() };
                tokio::spawn(reloader.run(every));
            }
            let graceful = GracefulShutdown::new();
            accept(&listener, &router, &options, &graceful, stop).await;
            drop(listener);
            router.stop();
            let open = router.metrics.connections.load(Ordering::Relaxed);
            (options.log)(&format!("stopping; {open} open connections"));
            let in_time = tokio::time::timeout(options.grace, graceful.shutdown()).await.is_ok();
            router.models().iter().for_each(|model| model.close());
            if in_time { 0 } else { router.metrics.connections.load(Ordering::Relaxed) }
        });
        // Tasks that are left would wait for clients that do not read.
        runtime.shutdown_background();
        if left > 0 { Err(ServeError::Unfinished(left)) } else { Ok(()) }
    }
}

/// Listens, with room for as many callers at once as the system grants.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that was just stopped must not keep the next one from its address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn accept(
    listener: &TcpListener,
    router: &Arc<Router>,
    options: &Options,
    graceful: &GracefulShutdown,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(options.idle_timeout).max_buf_size(64 << 10);
    let mut stop = pin!(stop);
    let mut said = false;
    loop {
        let accepted = std::future::poll_fn(|cx| {
            if stop.as_mut().poll(cx).is_ready() {
                return std::task::Poll::Ready(None);
            }
            listener.poll_accept(cx).map(Some)
        });
        let stream = match accepted.await {
            None => return,
            Some(Ok((stream, _))) => stream,
            // Whoever called has hung up.
            Some(Err(error))
                if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) =>
            {
                continue;
            }
            Some(Err(error)) => {
                if !said {
                    (options.log)(&format!("cannot accept a connection: {}", matnet_data::describe(&error)));
                    said = true;
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        said = false;
        // Answers are written whole; without this the last packet of each would wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let metrics = router.metrics.clone();
        if metrics.connections.load(Ordering::Relaxed) >= options.max_connections {
            metrics.refused_connections.add(1);
            tokio::spawn(refuse(stream, options.max_connections));
            continue;
        }
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        let router = router.clone();
        let service = service_fn(move |request| {
            let router = router.clone();
            async move { Ok::<_, Infallible>(router.answer(request).await) }
        });
        let stream = TimedStream::new(stream, options.timeout);
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that goes away, or that is too slow, is nobody else's concern.
            let _ = connection.await;
            metrics.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Says why, and closes.
async fn refuse(mut stream: TcpStream, limit: usize) {
    let body =
        format!("{{\"error\":\"{limit} connections are open, which is the limit (--max-connections)\"}}");
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close";
    let text = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let _ = tokio::time::timeout(PAUSE, async {
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.shutdown().await;
    })
    .await;
}

/// A connection is an open file, and the usual limit of these is made for other programs.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // Without it there are fewer connections.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
