//! Errors of the command line, said in our own words with exit code 64. Help and version are no
//! errors: they are the result.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use cp9_model::ExitCode;
use cp9_model::output::ErrorBody;

use crate::dialect::{DialectError, program};

/// What clap made of arguments that are no command to run.
pub(crate) enum Refusal {
    /// Help or version, asked for: text with colours.
    Answer(String),
    /// A wrong command line.
    Wrong(Box<ErrorBody>),
}

/// Translates clap's refusal of the command called `name`.
pub(crate) fn refusal(error: &clap::Error, name: &str) -> Refusal {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Refusal::Answer(error.render().ansi().to_string())
        }
        kind => {
            let mut hints: Vec<String> = suggestions(error)
                .map(|word| format!("did you mean `{word}`?"))
                .chain(session_file(error))
                .collect();
            hints.push(format!("`{} --help` shows what it takes", program(name)));
            Refusal::Wrong(Box::new(body(code(kind), message(error), hints)))
        }
    }
}

/// The error body of a dialect error.
pub(crate) fn dialect(error: &DialectError) -> ErrorBody {
    let code = match error {
        DialectError::UnknownKey { .. } => "argument-unknown",
        DialectError::EmptyLink { .. } => "command-missing",
        _ => "argument-invalid",
    };
    body(code, error.to_string(), error.hints())
}

fn body(code: &str, message: String, hints: Vec<String>) -> ErrorBody {
    let exit = ExitCode::Usage.code();
    let (category, code) = ("usage".to_owned(), code.to_owned());
    ErrorBody {
        category,
        code,
        message,
        causes: Vec::new(),
        hints,
        diagnostics: Vec::new(),
        exit,
    }
}

fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::UnknownArgument => "argument-unknown",
        ErrorKind::InvalidSubcommand => "command-unknown",
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "command-missing"
        }
        ErrorKind::ArgumentConflict => "argument-conflict",
        ErrorKind::MissingRequiredArgument => "argument-missing",
        _ => "argument-invalid",
    }
}

fn message(error: &clap::Error) -> String {
    let arg = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    match (error.kind(), arg, value) {
        (ErrorKind::UnknownArgument, Some(arg), _) => format!("unknown argument `{arg}`"),
        (ErrorKind::InvalidSubcommand, _, _) => {
            format!(
                "unknown command `{}`",
                text(error, ContextKind::InvalidSubcommand).unwrap_or_default()
            )
        }
        (
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            _,
            _,
        ) => "a command is missing".into(),
        (ErrorKind::MissingRequiredArgument, Some(arg), _) => format!("`{arg}` is missing"),
        (ErrorKind::ArgumentConflict, Some(arg), _) => conflict(error, &arg),
        (ErrorKind::InvalidValue, Some(arg), Some(value)) if value.is_empty() => {
            format!("`{arg}` needs a value")
        }
        (ErrorKind::InvalidValue, Some(arg), Some(value)) => one_of(error, &arg, &value),
        (ErrorKind::ValueValidation, Some(arg), Some(value)) => {
            let why = std::error::Error::source(error)
                .map(|why| format!(": {why}"))
                .unwrap_or_default();
            format!("`{value}` cannot be the value of `{arg}`{why}")
        }
        (ErrorKind::TooManyValues, Some(arg), Some(value)) => {
            format!("`{arg}` takes no value, `{value}` was given")
        }
        (ErrorKind::NoEquals, Some(arg), _) => format!("write the value of `{arg}` after `=`"),
        _ => first_line(error),
    }
}

fn conflict(error: &clap::Error, arg: &str) -> String {
    match text(error, ContextKind::PriorArg) {
        Some(prior) if prior == arg => format!("`{arg}` is given more than once"),
        Some(prior) => format!("`{arg}` cannot be used together with `{prior}`"),
        None => format!("`{arg}` cannot be used here"),
    }
}

fn one_of(error: &clap::Error, arg: &str, value: &str) -> String {
    let allowed = text(error, ContextKind::ValidValue)
        .map(|list| format!(", only {list}"))
        .unwrap_or_default();
    format!("`{value}` cannot be the value of `{arg}`{allowed}")
}

/// The value of a context entry in one piece.
fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(list) if kind == ContextKind::ValidValue => Some(
            list.iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ContextValue::Strings(list) => Some(list.join(", ")),
        _ => None,
    }
}

/// A session file given as a word is what other tools' users try first.
fn session_file(error: &clap::Error) -> Option<String> {
    let word = text(error, ContextKind::InvalidArg)
        .filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let yaml = [".yaml", ".yml"].iter().any(|end| word.ends_with(end)) && !word.starts_with('-');
    yaml.then(|| format!("did you mean `--config {word}`?"))
}

/// clap's candidates, the best last.
fn suggestions(error: &clap::Error) -> impl Iterator<Item = String> {
    let kinds = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let given = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    let candidates = kinds.into_iter().filter_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    });
    candidates.filter(move |word| word != "destroy" || is_slip(&given, word))
}

/// True for a mere typing error; nobody is told to destroy because they meant to deploy.
fn is_slip(given: &str, word: &str) -> bool {
    strsim::osa_distance(given, word) <= 1
}

/// What clap says itself, for the kinds that this command line does not produce today.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
