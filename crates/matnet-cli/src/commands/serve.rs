//! `matnet serve`: predictions over HTTP, until a signal.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use matnet_serve::{ModelSpec, Options, ServeError, Server, Token};

use crate::cli::Serve;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;
use crate::{interrupt, say};

/// The variable that may hold the token.
const TOKEN: &str = "MATNET_TOKEN";
/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Usage(what) => Self::Usage(what),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// Serves until Ctrl-C or SIGTERM; a second one ends at once.
pub fn run(args: Serve) -> Outcome {
    let models = args.runs.iter().map(|run| ModelSpec::parse(run)).collect::<Result<Vec<_>, _>>()?;
    let token = token(&args)?;
    if token.is_none() && !args.listen.ip().is_loopback() {
        say!(
            "{}: anyone who reaches this address can ask; --token-file or {TOKEN} asks them for a token",
            args.listen
        );
    }
    if args.max_bodies < args.max_body {
        return Err(Failure::Usage(format!(
            "--max-bodies {}: one request may have {} MiB (--max-body); at least as many for all expected",
            args.max_bodies, args.max_body
        )));
    }
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds);
    let options = Options {
        listen: args.listen,
        max_batch: args.max_batch as usize,
        max_delay: seconds(args.max_delay_ms / 1e3),
        max_queue: args.max_queue as usize,
        max_body: (args.max_body as usize) << 20,
        max_bodies: (args.max_bodies as usize) << 20,
        max_pass: u64::from(args.max_pass) << 20,
        max_connections: args.max_connections as usize,
        timeout: seconds(args.timeout),
        idle_timeout: seconds(args.idle_timeout),
        grace: seconds(args.grace),
        reload_every: (args.reload_every > 0.0).then(|| seconds(args.reload_every)),
        token,
        weights: args.weights.file().to_owned(),
        device: args.machine.device()?,
        log: if args.quiet { Arc::new(|_: &str| ()) } else { Arc::new(|line: &str| say!("{line}")) },
    };
    let server = Server::start(&models, options)?;
    let names = models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ");
    // Whoever started this waits for the line; that nobody reads it is no reason to stop.
    let mut out = Screen::lock();
    let _ = writeln!(out, "http://{}/ serves {names}", server.address()).and_then(|()| out.flush());
    drop(out);
    interrupt::watch();
    server.run(async {
        while !interrupt::asked() {
            tokio::time::sleep(LOOK).await;
        }
    })?;
    Ok(())
}

fn token(args: &Serve) -> Result<Option<Token>, Failure> {
    let (text, place) = match &args.token_file {
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => (text, path.display().to_string()),
            Err(error) => {
                return Err(Failure::Failed(format!(
                    "{}: {}",
                    path.display(),
                    matnet_data::describe(&error)
                )));
            }
        },
        None => match std::env::var(TOKEN) {
            Ok(text) => (text, TOKEN.to_owned()),
            Err(_) => return Ok(None),
        },
    };
    let wrong =
        || Failure::Usage(format!("{place}: a token of letters, digits and signs without spaces expected"));
    Token::new(&text).map(Some).ok_or_else(wrong)
}
