//! The ticat dialect, rewritten to plain flags: `key=value`, chains with `:`, and `{…}` overlays.
//! Pure: arguments in, invocations out. What a flag is comes from clap's own tree.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};
use thiserror::Error;

use crate::suggest::closest;
use crate::ui::Format;

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

/// What `{…}` tokens set, for the rest of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overlay {
    /// Variables.
    pub(crate) env: BTreeMap<String, String>,
    /// `{cp9.verbose=…}`.
    pub(crate) verbose: Option<bool>,
    /// `{sys.output.format=…}`.
    pub(crate) format: Option<Format>,
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
    if command.is_empty() { "cp9".into() } else { format!("cp9 {command}") }
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
            let next = Link::new(root, link.overlay.clone());
            let only_settings = link.touched && link.args.is_empty();
            let ended = std::mem::replace(&mut link, next);
            if !only_settings {
                done.push(ended.end(Some("before"))?);
            }
        } else if let Some(setting) = setting(token) {
            link.overlay.set(token, setting)?;
            link.touched = true;
        } else {
            link.take(token)?;
        }
    }
    done.push(link.end(chained.then_some("after"))?);
    Ok(done)
}

/// One command of the chain while its tokens are read.
struct Link<'a> {
    command: &'a Command,
    names: Vec<&'a str>,
    overlay: Overlay,
    args: Vec<String>,
    positionals: usize,
    literal: bool,
    value_next: bool,
    touched: bool,
    foreign: bool,
}

impl<'a> Link<'a> {
    fn new(root: &'a Command, overlay: Overlay) -> Self {
        Self {
            command: root,
            names: Vec::new(),
            overlay,
            args: Vec::new(),
            positionals: 0,
            literal: false,
            value_next: false,
            touched: false,
            foreign: false,
        }
    }

    /// Takes what is never dialect: all after `--`, and the value of a flag.
    fn verbatim(&mut self, token: &str) -> bool {
        if !self.literal && !self.value_next {
            return false;
        }
        self.value_next = false;
        self.args.push(token.to_owned());
        true
    }

    fn take(&mut self, token: &str) -> Result<(), DialectError> {
        if token.len() > 1 && token.starts_with('-') {
            self.literal = token == "--";
            self.value_next = self.takes_next(token);
            self.args.push(token.to_owned());
            return Ok(());
        }
        if let Some((key, value)) = pair(token).filter(|_| !self.foreign) {
            if let Some(flag) = self.flag(key) {
                self.args.extend(rewrite(flag, key, value)?);
                return Ok(());
            }
            if self.positionals >= self.command.get_positionals().count() {
                return Err(self.unknown(key, token));
            }
        }
        self.positional(token);
        Ok(())
    }

    /// A word: the next command's name, or a positional argument.
    fn positional(&mut self, token: &str) {
        self.args.push(token.to_owned());
        if let Some(sub) = self.command.find_subcommand(token).filter(|_| !self.foreign) {
            self.names.push(sub.get_name());
            self.command = sub;
        } else {
            // A word that is no command leaves nothing to compare later keys with; clap names it.
            self.foreign |= self.command.has_subcommands();
            self.positionals += 1;
        }
    }

    fn flag(&self, key: &str) -> Option<&'a Arg> {
        let named = |arg: &&Arg| {
            arg.get_long() == Some(key) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&key))
        };
        self.command.get_arguments().find(named)
    }

    /// True for a flag whose value is the next token.
    fn takes_next(&self, token: &str) -> bool {
        let flag = match token.strip_prefix("--") {
            Some(long) => self.flag(long),
            None => {
                let short = token.chars().last();
                self.command.get_arguments().find(|arg| arg.get_short() == short && short.is_some())
            }
        };
        flag.is_some_and(|flag| takes_value(flag) && !flag.is_require_equals_set())
    }

    fn unknown(&self, key: &str, token: &str) -> DialectError {
        let known = self.command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
        DialectError::UnknownKey {
            command: self.names.join(" "),
            key: key.to_owned(),
            token: token.to_owned(),
            close: closest(key, known).map(str::to_owned),
        }
    }

    /// The finished command. Only in a chain (`place`) must it hold something: what a lone `cp9`
    /// means, clap says.
    fn end(self, place: Option<&'static str>) -> Result<Invocation, DialectError> {
        match place {
            Some(place) if self.args.is_empty() => Err(DialectError::EmptyLink { place }),
            _ => Ok(Invocation { overlay: self.overlay, args: self.args, name: self.names.join(" ") }),
        }
    }
}

fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The flag form of `key=value`.
fn rewrite(flag: &Arg, key: &str, value: &str) -> Result<Option<String>, DialectError> {
    let optional = flag.get_num_args().is_some_and(|range| range.min_values() == 0);
    let switch = !takes_value(flag);
    match value {
        "true" if switch || optional => Ok(Some(format!("--{key}"))),
        "false" if switch || optional => Ok(None),
        _ if switch => Err(DialectError::NotBoolean { key: key.to_owned(), value: value.to_owned() }),
        _ => Ok(Some(format!("--{key}={value}"))),
    }
}

/// The two halves of a token of the form `^[a-z][a-z0-9-]*=`.
fn pair(token: &str) -> Option<(&str, &str)> {
    let (key, value) = token.split_once('=')?;
    let rest = key.strip_prefix(|c: char| c.is_ascii_lowercase())?;
    rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-').then_some((key, value))
}

/// The inside of a `{…}` token.
fn setting(token: &str) -> Option<&str> {
    token.strip_prefix('{')?.strip_suffix('}')
}

const VERBOSE: &str = "cp9.verbose";
const FORMAT: &str = "sys.output.format";

impl Overlay {
    fn set(&mut self, token: &str, inside: &str) -> Result<(), DialectError> {
        let (key, value) = inside.split_once('=').unwrap_or((inside, ""));
        let given = inside.contains('=');
        match key {
            VERBOSE if given => self.verbose = Some(boolean(value)?),
            FORMAT if given => self.format = Some(format(value)?),
            _ => match key.strip_prefix("env.").filter(|_| given) {
                Some(name) => {
                    self.env.insert(variable(name)?.to_owned(), value.to_owned());
                }
                None => return Err(unknown_setting(token, key)),
            },
        }
        Ok(())
    }
}

fn unknown_setting(token: &str, key: &str) -> DialectError {
    let close = closest(key, [VERBOSE, FORMAT, "env.KEY"]).map(str::to_owned);
    DialectError::UnknownSetting { token: token.to_owned(), close }
}

fn boolean(value: &str) -> Result<bool, DialectError> {
    value.parse().map_err(|_| DialectError::SettingValue {
        key: VERBOSE,
        allowed: "`true` or `false`",
        value: value.to_owned(),
    })
}

fn format(value: &str) -> Result<Format, DialectError> {
    match value {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Envelope),
        "lines" => Ok(Format::Lines),
        _ => Err(DialectError::SettingValue {
            key: FORMAT,
            allowed: "`json`, `lines` or `text`",
            value: value.to_owned(),
        }),
    }
}

fn variable(name: &str) -> Result<&str, DialectError> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inner = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if starts && inner { Ok(name) } else { Err(DialectError::VariableName { name: name.to_owned() }) }
}

/// The JSON form that the raw arguments ask for, as far as one can tell before they are understood:
/// how to print an error about them.
pub(crate) fn wanted(args: &[String]) -> Format {
    let mut format = Format::Text;
    for arg in args.iter().take_while(|arg| *arg != "--") {
        match arg.as_str() {
            "--json" | "--json=envelope" | "json=true" | "json=envelope" | "{sys.output.format=json}" => {
                format = Format::Envelope;
            }
            "--json=lines" | "json=lines" | "{sys.output.format=lines}" => format = Format::Lines,
            _ => {}
        }
    }
    format
}
