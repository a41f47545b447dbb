//! One pass over a text that replaces own ports, names of the session and mount paths by what
//! they are on this machine. Whole tokens only; nothing that was replaced is looked at again.

use std::collections::BTreeMap;

use cp9_model::ServiceName;

use super::names::Names;

/// What a replacement was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The service's own port.
    Port(u16),
    /// A name of the session.
    Name,
    /// A mount path.
    Path(String),
}

impl Rule {
    /// The word in the report.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Port(_) => "port",
            Self::Name => "name",
            Self::Path(_) => "path",
        }
    }
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// What it was about.
    pub rule: Rule,
    /// The token as it was.
    pub from: String,
    /// The token as it is now.
    pub to: String,
}

/// A text after the pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// The new text.
    pub text: String,
    /// What was replaced, in order.
    pub hits: Vec<Hit>,
    /// Names of the session that were left alone, as their port leads nowhere.
    pub left: Vec<String>,
}

/// What is replaced in the texts of one service.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    /// The service.
    pub own: &'a ServiceName,
    /// Its loopback ports by container port.
    pub ports: &'a BTreeMap<u16, u16>,
    /// The names of the session.
    pub names: &'a Names,
    /// Its mount paths, longest first.
    pub mounts: Vec<String>,
}

enum Token {
    Replace { end: usize, hit: Hit },
    Leave { end: usize, name: Option<String> },
}

impl Rewriter<'_> {
    /// Rewrites a text; mounts lie below `root`.
    pub(crate) fn text(&self, text: &str, root: &str) -> Rewritten {
        let mut result = Rewritten::default();
        let (mut at, mut copied) = (0, 0);
        while at < text.len() {
            match self.token(text, at, root) {
                Some(Token::Replace { end, hit }) => {
                    result.text.push_str(&text[copied..at]);
                    result.text.push_str(&hit.to);
                    result.hits.push(hit);
                    (at, copied) = (end, end);
                }
                Some(Token::Leave { end, name }) => {
                    result.left.extend(name);
                    at = end;
                }
                None => at += 1,
            }
        }
        result.text.push_str(&text[copied..]);
        result
    }

    /// Rewrites the value of a variable, which may be a bare port.
    pub(crate) fn value(&self, value: &str, root: &str) -> Rewritten {
        if let Some(hit) = self.bare_port(value) {
            return Rewritten {
                text: hit.to.clone(),
                hits: vec![hit],
                left: Vec::new(),
            };
        }
        let mut result = self.text(value, root);
        if result.hits.is_empty()
            && result.left.is_empty()
            && self.names.resolve(value.trim(), self.own).is_some()
        {
            result.left.push(value.trim().to_owned());
        }
        result
    }

    /// Rewrites a command line. A flag whose name speaks of a port may carry a bare one.
    pub(crate) fn argv(&self, argv: &[String], root: &str) -> Vec<Rewritten> {
        let mut after_port_flag = false;
        argv.iter()
            .map(|arg| {
                let bare = if after_port_flag {
                    self.bare_port(arg)
                } else {
                    self.port_flag(arg)
                };
                after_port_flag = is_port_flag(arg) && !arg.contains('=');
                match bare {
                    Some(hit) => {
                        let text = if arg == &hit.from {
                            hit.to.clone()
                        } else {
                            replace_value(arg, &hit.to)
                        };
                        Rewritten {
                            text,
                            hits: vec![hit],
                            left: Vec::new(),
                        }
                    }
                    None => self.text(arg, root),
                }
            })
            .collect()
    }

    fn bare_port(&self, value: &str) -> Option<Hit> {
        let port: u16 = value.parse().ok()?;
        let host = self.ports.get(&port)?;
        (port.to_string() == value).then(|| Hit {
            rule: Rule::Port(port),
            from: value.to_owned(),
            to: host.to_string(),
        })
    }

    fn port_flag(&self, arg: &str) -> Option<Hit> {
        let (flag, value) = arg.split_once('=')?;
        if is_port_flag(flag) {
            self.bare_port(value)
        } else {
            None
        }
    }

    fn token(&self, text: &str, at: usize, root: &str) -> Option<Token> {
        match text.as_bytes()[at] {
            b'/' => self.path(text, at, root),
            b':' if opens_port(text, at) => self.own_port(text, at, at),
            b'[' | b'*' | b'+' => ["[::]", "[::1]", "*", "+"]
                .into_iter()
                .find(|host| text[at..].starts_with(host))
                .and_then(|host| self.own_port(text, at, at + host.len())),
            byte if is_host(byte) => Some(self.host(text, at)),
            _ => None,
        }
    }

    /// A token `HOST:PORT` of this service's own port; `colon` is where the port begins.
    fn own_port(&self, text: &str, at: usize, colon: usize) -> Option<Token> {
        let (port, end) = port_after(text, colon)?;
        let host = self.ports.get(&port)?;
        if !opens(text, at) || is_json_pair(text, at, end) {
            return None;
        }
        let hit = Hit {
            rule: Rule::Port(port),
            from: text[at..end].to_owned(),
            to: format!("127.0.0.1:{host}"),
        };
        Some(Token::Replace { end, hit })
    }

    fn host(&self, text: &str, at: usize) -> Token {
        let end = at
            + text.as_bytes()[at..]
                .iter()
                .take_while(|byte| is_host(**byte))
                .count();
        let host = &text[at..end];
        let leave = Token::Leave { end, name: None };
        if !opens(text, at) {
            return leave;
        }
        if matches!(host, "0.0.0.0" | "localhost" | "127.0.0.1") {
            return self.own_port(text, at, end).unwrap_or(leave);
        }
        let Some(endpoint) = self.names.resolve(host, self.own) else {
            return leave;
        };
        if let Some((port, end)) = port_after(text, end) {
            return replace(text, at, end, endpoint.at(port));
        }
        match scheme_before(text, at) {
            Some(scheme) if ends(text, end) && !host.ends_with('.') => {
                replace(text, at, end, endpoint.of_scheme(scheme))
            }
            _ => leave,
        }
    }

    fn path(&self, text: &str, at: usize, root: &str) -> Option<Token> {
        let before = text[..at].chars().next_back();
        let glued = before.is_some_and(|c| c.is_alphanumeric() || "_.-~/})".contains(c));
        if glued && !text[..at].ends_with("://") {
            return None;
        }
        let mount = self.mounts.iter().find(|mount| {
            text[at..]
                .strip_prefix(mount.as_str())
                .is_some_and(path_ends)
        })?;
        let hit = Hit {
            rule: Rule::Path(mount.clone()),
            from: mount.clone(),
            to: format!("{root}{mount}"),
        };
        Some(Token::Replace {
            end: at + mount.len(),
            hit,
        })
    }
}

fn replace(text: &str, at: usize, end: usize, host: Option<u16>) -> Token {
    let from = text[at..end].to_owned();
    match host {
        Some(port) => Token::Replace {
            end,
            hit: Hit {
                rule: Rule::Name,
                from,
                to: format!("127.0.0.1:{port}"),
            },
        },
        None => Token::Leave {
            end,
            name: Some(from),
        },
    }
}

fn is_port_flag(arg: &str) -> bool {
    let name = arg.split('=').next().unwrap_or(arg);
    name.starts_with('-') && name.to_ascii_lowercase().contains("port")
}

fn replace_value(arg: &str, value: &str) -> String {
    let flag = arg.split('=').next().unwrap_or(arg);
    format!("{flag}={value}")
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// The port after a colon and where it ends, if a token may end there.
fn port_after(text: &str, colon: usize) -> Option<(u16, usize)> {
    let digits = text[colon..].strip_prefix(':')?;
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let port = digits[..length].parse().ok()?;
    let end = colon + 1 + length;
    ends(text, end).then_some((port, end))
}

/// True when a token may begin here.
fn opens(text: &str, at: usize) -> bool {
    match text[..at].chars().next_back() {
        None => true,
        Some('/') => text[..at].ends_with("//"),
        Some(c) => !(c.is_alphanumeric() || "_.-:$%~\\]".contains(c)),
    }
}

/// True when a token without a host, such as `:8080`, may begin here: `$(HOST):8080` has one.
fn opens_port(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_none_or(|c| c.is_whitespace() || "\"'=,;([{<|".contains(c))
        || text[..at].ends_with("//")
}

/// True when a token may end here.
fn ends(text: &str, at: usize) -> bool {
    let mut rest = text[at..].chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        Some(c) => !(c.is_alphanumeric() || "_-:@".contains(c)),
    }
}

fn path_ends(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(|c| c.is_alphanumeric() || c == '.'),
        Some(c) => !(c.is_alphanumeric() || "_-".contains(c)),
    }
}

/// `"port":8080` of compact JSON looks like a quoted `:8080` and is none.
fn is_json_pair(text: &str, at: usize, end: usize) -> bool {
    let closes = text.as_bytes()[at] == b':' && text[..at].ends_with(['"', '\'']);
    closes && !text[end..].starts_with(['"', '\'', '/'])
}

fn scheme_before(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].strip_suffix("://")?;
    let scheme = before
        .rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-')))
        .next()?;
    (!scheme.is_empty()).then_some(scheme)
}

#[cfg(test)]
mod tests;
