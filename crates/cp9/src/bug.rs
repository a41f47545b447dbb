//! Panics are bugs of cp9: they end with exit code 70, an explanation and, under `--json`, an
//! envelope, never with a bare backtrace.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;

use cp9_model::ExitCode;
use cp9_model::output::{API_VERSION, Envelope, ErrorBody};

use crate::dialect;
use crate::env;
use crate::error;
use crate::ui::{self, Format};

/// Where the last panic happened; a payload alone does not say.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// The command that runs, for the envelope.
static COMMAND: Mutex<String> = Mutex::new(String::new());

/// Says which command runs from now on.
pub(crate) fn running(command: &str) {
    store(&COMMAND, command.to_owned());
}

fn store(cell: &Mutex<String>, text: String) {
    if let Ok(mut cell) = cell.lock() {
        *cell = text;
    }
}

fn load(cell: &Mutex<String>) -> String {
    cell.lock().map(|text| text.clone()).unwrap_or_default()
}

/// Runs the command line; a panic becomes an explained exit 70.
pub(crate) fn guard(run: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(remember));
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(code) => code,
        Err(payload) => report(&text(payload.as_ref())),
    }
}

/// A panic of another task reaches nobody's `catch_unwind`, so each is told where it happens.
fn remember(info: &PanicHookInfo<'_>) {
    let place = info
        .location()
        .map(|place| format!("{}:{}", place.file(), place.line()))
        .unwrap_or_default();
    let main = std::thread::current().name() == Some("main");
    if !main {
        ui::last_words(&format!("bug: {} ({place})", text(info.payload())));
    }
    store(&PLACE, place);
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}

/// Prints without the command's `Ui`, whose state is unknown now.
fn report(message: &str) -> ExitCode {
    let body = body(message, &load(&PLACE));
    if dialect::wanted(&env::arguments()) == Format::Text {
        ui::last_words(&anstream::adapter::strip_str(&error::render(&body)).to_string());
    } else {
        ui::last_result(&Envelope {
            api_version: API_VERSION.into(),
            command: load(&COMMAND),
            ok: false,
            data: None,
            error: Some(body),
            target: None,
        });
    }
    ExitCode::Bug
}

fn body(message: &str, place: &str) -> ErrorBody {
    ErrorBody {
        category: "bug".into(),
        code: "bug".into(),
        message: "cp9 ran into a bug of its own".into(),
        causes: vec![format!("{message} ({place})")],
        hints: vec!["the session is as the last finished state left it; please report this with the command you ran".into()],
        diagnostics: Vec::new(),
        exit: ExitCode::Bug.code(),
    }
}
