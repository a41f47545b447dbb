//! One command of a chain while its tokens are read: which command it is, and which of its tokens
//! are flags, values and words.

use clap::{Arg, ArgAction, Command};

use super::setting::Overlay;
use super::{DialectError, Invocation};
use crate::suggest::closest;

/// One command of the chain.
pub(super) struct Link<'a> {
    command: &'a Command,
    names: Vec<&'a str>,
    overlay: Overlay,
    args: Vec<String>,
    positionals: usize,
    next: Next,
    settings: bool,
    foreign: bool,
}

/// What the next token is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A flag, a key or a word.
    Token,
    /// The value of the flag before.
    Value,
    /// A word is the value of the flag before.
    OptionalValue,
    /// Verbatim, and so are all after it.
    Literal,
}

impl<'a> Link<'a> {
    /// Begins a command with what the chain has set so far.
    pub(super) fn new(root: &'a Command, overlay: Overlay) -> Self {
        Self {
            command: root,
            names: Vec::new(),
            overlay,
            args: Vec::new(),
            positionals: 0,
            next: Next::Token,
            settings: false,
            foreign: false,
        }
    }

    /// What the chain has set so far.
    pub(super) fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// True for a link that is no command but sets something.
    pub(super) fn only_settings(&self) -> bool {
        self.settings && self.args.is_empty()
    }

    /// Takes a `{…}` token.
    pub(super) fn set(&mut self, token: &str, inside: &str) -> Result<(), DialectError> {
        self.settings = true;
        self.overlay.set(token, inside)
    }

    /// Takes what is never dialect: all after `--`, and the value of a flag.
    pub(super) fn verbatim(&mut self, token: &str) -> bool {
        match self.next {
            Next::Token | Next::OptionalValue => return false,
            Next::Value => self.next = Next::Token,
            Next::Literal => {}
        }
        self.args.push(token.to_owned());
        true
    }

    /// Takes a flag, a key or a word.
    pub(super) fn take(&mut self, token: &str) -> Result<(), DialectError> {
        let joins = self.next == Next::OptionalValue;
        self.next = Next::Token;
        if token.len() > 1 && token.starts_with('-') {
            self.next = self.after(token);
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
        } else if let Some(last) = self.args.last_mut().filter(|_| joins) {
            *last = format!("{last}={token}");
            return Ok(());
        }
        self.positional(token);
        Ok(())
    }

    /// A word: the next command's name, or a positional argument.
    fn positional(&mut self, token: &str) {
        self.args.push(token.to_owned());
        if let Some(sub) = self
            .command
            .find_subcommand(token)
            .filter(|_| !self.foreign)
        {
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
            arg.get_long() == Some(key)
                || arg
                    .get_all_aliases()
                    .is_some_and(|aliases| aliases.contains(&key))
        };
        self.command.get_arguments().find(named)
    }

    /// What comes after a token that begins with `-`.
    fn after(&self, token: &str) -> Next {
        if token == "--" {
            return Next::Literal;
        }
        let flag = if let Some(long) = token.strip_prefix("--") {
            self.flag(long)
        } else {
            let short = token.chars().last();
            let same = |arg: &&Arg| arg.get_short().is_some() && arg.get_short() == short;
            self.command.get_arguments().find(same)
        };
        match flag.filter(|flag| takes_value(flag)) {
            Some(flag) if !flag.is_require_equals_set() => Next::Value,
            // `--wait 5m` can only mean `--wait=5m` in a command that takes no word, though clap
            // wants the `=`.
            Some(_) if self.is_wordless() => Next::OptionalValue,
            _ => Next::Token,
        }
    }

    fn is_wordless(&self) -> bool {
        !self.command.has_subcommands() && self.command.get_positionals().count() == 0
    }

    fn unknown(&self, key: &str, token: &str) -> DialectError {
        let known = self
            .command
            .get_arguments()
            .filter(|arg| !arg.is_hide_set())
            .filter_map(Arg::get_long);
        DialectError::UnknownKey {
            command: self.names.join(" "),
            key: key.to_owned(),
            token: token.to_owned(),
            close: closest(key, known).map(str::to_owned),
        }
    }

    /// The finished command. Only in a chain (`place`) must it hold something: what a lone `cp9`
    /// means, clap says.
    pub(super) fn end(self, place: Option<&'static str>) -> Result<Invocation, DialectError> {
        match place {
            Some(place) if self.args.is_empty() => Err(DialectError::EmptyLink { place }),
            _ => Ok(Invocation {
                overlay: self.overlay,
                args: self.args,
                name: self.names.join(" "),
            }),
        }
    }
}

pub(super) fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The flag form of `key=value`.
fn rewrite(flag: &Arg, key: &str, value: &str) -> Result<Option<String>, DialectError> {
    let optional = flag
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    let switch = !takes_value(flag);
    match value {
        "true" if switch || optional => Ok(Some(format!("--{key}"))),
        "false" if switch || optional => Ok(None),
        _ if switch => Err(DialectError::NotBoolean {
            key: key.to_owned(),
            value: value.to_owned(),
        }),
        _ => Ok(Some(format!("--{key}={value}"))),
    }
}

/// The two halves of a token of the form `^[a-z][a-z0-9-]*=`.
fn pair(token: &str) -> Option<(&str, &str)> {
    let (key, value) = token.split_once('=')?;
    let rest = key.strip_prefix(|c: char| c.is_ascii_lowercase())?;
    rest.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        .then_some((key, value))
}
