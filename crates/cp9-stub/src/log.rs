//! The log of a stub: one JSON line per request on stdout, as a service writes it.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::clock;

/// Where a stub logs to. Clones write to the same place.
#[derive(Clone)]
pub struct Log {
    out: Arc<Mutex<dyn Write + Send>>,
    service: Arc<str>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// One answered request.
#[derive(Debug, Serialize)]
pub(crate) struct Served<'a> {
    pub(crate) trace_id: &'a str,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
}

#[derive(Serialize)]
struct Line<'a, T> {
    time: String,
    level: &'a str,
    msg: &'a str,
    service: &'a str,
    #[serde(flatten)]
    more: T,
}

impl Log {
    /// Logs to `out`, in the name of `service`.
    pub fn new(out: impl Write + Send + 'static, service: &str) -> Self {
        Self {
            out: Arc::new(Mutex::new(out)),
            service: service.into(),
        }
    }

    /// Logs an answered request.
    pub(crate) fn served(&self, served: &Served<'_>) {
        let level = match served.status {
            0..400 => "info",
            400..500 => "warn",
            _ => "error",
        };
        self.line(level, "request", served);
    }

    /// Logs a remark.
    pub(crate) fn remark(&self, level: &str, msg: &str) {
        self.line(level, msg, serde_json::Map::new());
    }

    /// A reader that went away is no reason to stop serving.
    fn line<T: Serialize>(&self, level: &str, msg: &str, more: T) {
        let line = Line {
            time: clock::now(),
            level,
            msg,
            service: &self.service,
            more,
        };
        let Ok(mut text) = serde_json::to_vec(&line) else {
            return;
        };
        text.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(&text).and_then(|()| out.flush());
    }
}
