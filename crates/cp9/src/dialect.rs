//! The ticat dialect, rewritten to plain flags: `key=value`, chains with `:`, and `{…}` overlays.
//! Pure: arguments in, invocations out. What a flag is comes from clap's own tree.

use clap::Command;
use thiserror::Error;

use crate::ui::Format;
use link::Link;
pub(crate) use setting::Overlay;

mod link;
mod setting;

#[cfg(test)]
mod tests;

/// One command of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// What the `{…}` tokens up to here set.
    pub(crate) overlay: Overlay,
    /// The command's arguments as plain flags.
    pub(crate) args: Vec<String>,
    /// The command's name, such as `up`; empty where none was given.
    pub(crate) name: String,
}

/// Why the arguments are refused before any command is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum DialectError {
    /// Nothing between two `:`, or before the first, or after the last.
    #[error("there is no command {place} `:`")]
    EmptyLink {
        /// `before` or `after`.
        place: &'static str,
    },
    /// `key=value` where nothing of that name exists and no positional is left.
    #[error("unknown argument `{key}` in `{token}`")]
    UnknownKey {
        /// The command, empty for cp9 itself.
        command: String,
        /// The key.
        key: String,
        /// The whole token.
        token: String,
        /// The closest flag.
        close: Option<String>,
    },
    /// A switch that is given something other than `true` or `false`.
    #[error("`{key}` takes `true` or `false`, not `{value}`")]
    NotBoolean {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// `{…}` with a key that means nothing.
    #[error("unknown setting `{token}`")]
    UnknownSetting {
        /// The whole token.
        token: String,
        /// The closest setting.
        close: Option<String>,
    },
    /// `{…}` with a value that its key does not take.
    #[error("`{key}` takes {allowed}, not `{value}`")]
    SettingValue {
        /// The key.
        key: &'static str,
        /// What it takes.
        allowed: &'static str,
        /// The value.
        value: String,
    },
    /// `{env.…}` with a name that no variable can have.
    #[error("`{name}` cannot be the name of a variable")]
    VariableName {
        /// The name.
        name: String,
    },
}

impl DialectError {
    /// What to do about it.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::EmptyLink { .. } => vec!["chain commands like `cp9 up : status`".into()],
            Self::UnknownKey { command, close, .. } => {
                let help = format!("`{} --help` lists the arguments", program(command));
                close.iter().map(|key| format!("did you mean `{key}=`?")).chain([help]).collect()
            }
            Self::UnknownSetting { close, .. } => match close {
                Some(close) => vec![format!("did you mean `{{{close}=…}}`?")],
                None => vec!["settings are `{env.KEY=value}`, `{cp9.verbose=true}` and `{sys.output.format=json}`".into()],
            },
            Self::VariableName { .. } => vec!["use letters, digits and `_`, such as `{env.MY_NAME=value}`".into()],
            Self::NotBoolean { .. } | Self::SettingValue { .. } => Vec::new(),
        }
    }
}

/// The words that run a command.
pub(crate) fn program(command: &str) -> String {
    if command.is_empty() {
        "cp9".into()
    } else {
        format!("cp9 {command}")
    }
}

/// Cuts the arguments into the commands of the chain and rewrites each to plain flags.
pub(crate) fn parse(args: &[String], root: &Command) -> Result<Vec<Invocation>, DialectError> {
    let mut done = Vec::new();
    let mut chained = false;
    let mut link = Link::new(root, Overlay::default());
    for token in args {
        if link.verbatim(token) {
            continue;
        }
        if token == ":" {
            chained = true;
            let next = Link::new(root, link.overlay().clone());
            let ended = std::mem::replace(&mut link, next);
            if !ended.only_settings() {
                done.push(ended.end(Some("before"))?);
            }
        } else if let Some(inside) = setting::inside(token) {
            link.set(token, inside)?;
        } else {
            link.take(token)?;
        }
    }
    done.push(link.end(chained.then_some("after"))?);
    Ok(done)
}

/// The JSON form that the raw arguments ask for, as far as one can tell before they are understood:
/// how to print an error about them.
pub(crate) fn wanted(args: &[String]) -> Format {
    let mut format = Format::Text;
    for arg in args.iter().take_while(|arg| *arg != "--") {
        match arg.as_str() {
            "--json"
            | "--json=envelope"
            | "json=true"
            | "json=envelope"
            | "{sys.output.format=json}" => {
                format = Format::Envelope;
            }
            "--json=lines" | "json=lines" | "{sys.output.format=lines}" => format = Format::Lines,
            _ => {}
        }
    }
    format
}
