//! Env files: `KEY=VALUE` lines, read literally. No escapes, no expansion, no values over several
//! lines; what could be meant in two ways is refused with its place. Values are never shown.

use std::collections::HashMap;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Finding, Source, report};
use crate::yaml::{Options, decode};

/// The longest value that a process can be given, in bytes.
const LONGEST: usize = 128 * 1024 - 1;

/// Reads an env file; the pairs stand in the order of the file.
///
/// # Errors
/// Every line that is not `KEY=VALUE`, with its place.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let limits = Options {
        max_bytes: 4 * 1024 * 1024,
        ..Options::config()
    };
    // Nothing of a file that is no text may be shown, so only the place of that diagnostic is kept.
    let text = decode(file, bytes, &limits).map_err(without_snippets)?;
    let mut lines = Lines {
        pairs: Vec::new(),
        seen: HashMap::new(),
        findings: Vec::new(),
        hidden: Vec::new(),
    };
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let body = body.strip_suffix('\r').unwrap_or(body);
        let skip = if number == 0 && body.starts_with('\u{feff}') {
            3
        } else {
            0
        };
        lines.take(&body[skip..], start + skip, number + 1);
        start += line.len();
    }
    if lines.findings.is_empty() {
        return Ok(lines.pairs);
    }
    let source = Source::new(file, text).hiding(lines.hidden);
    Err(report(&source, lines.findings))
}

fn without_snippets(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for one in &mut found {
        one.snippet = format!("--> {}:{}:{}", one.file, one.line, one.column);
    }
    found
}

struct Lines {
    pairs: Vec<(String, String)>,
    seen: HashMap<String, usize>,
    findings: Vec<Finding>,
    hidden: Vec<Range<usize>>,
}

impl Lines {
    fn take(&mut self, line: &str, start: usize, number: usize) {
        let body = line.trim_start_matches([' ', '\t']);
        if body.is_empty() || body.starts_with('#') {
            // People comment secrets out, too.
            self.hidden.push(start..start + line.len());
            return;
        }
        let indent = line.len() - body.len();
        let named = strip_export(body);
        let begin = indent + body.len() - named.len();
        let Some(equals) = named.find('=') else {
            // Without `=` nobody knows which part is the secret.
            self.hidden.push(start..start + line.len());
            return self.fail(
                start + begin..start + begin,
                "no `=` in the line",
                "write `KEY=VALUE`, or `#` before a comment",
            );
        };
        let (key, rest) = (&named[..equals], &named[equals + 1..]);
        let at = start + begin;
        let value_at = at + equals + 1;
        self.hidden.push(value_at..value_at + rest.len());
        if !is_name(key) {
            // A value that lost its key may stand here; only well-formed names are shown.
            self.hidden.push(at..at + key.len());
            return self.bad_key(key, at);
        }
        match value(rest) {
            Ok(value) => self.keep(key, value, at, number),
            Err((column, message, help)) => {
                self.fail(value_at + column..value_at + column, message, help);
            }
        }
    }

    fn bad_key(&mut self, key: &str, at: usize) {
        let blank = key.find([' ', '\t']);
        let tail = key.trim_end_matches([' ', '\t']);
        match blank {
            Some(column) if is_name(tail) => self.fail(
                at + column..at + column,
                "a blank before `=`",
                "write `KEY=VALUE` without blanks",
            ),
            _ if key.is_empty() => self.fail(at..at, "no name before `=`", "write `KEY=VALUE`"),
            _ => self.fail(
                at..at,
                "the name before `=` is not a variable name",
                "use letters, digits and `_`, not starting with a digit",
            ),
        }
    }

    fn keep(&mut self, key: &str, value: &str, at: usize, number: usize) {
        if let Some(first) = self.seen.get(key) {
            let message = format!("`{key}` stands twice, first in line {first}");
            return self.fail(at..at + key.len(), &message, "remove one of them");
        }
        if value.len() > LONGEST {
            return self.fail(
                at..at + key.len(),
                &format!("the value of `{key}` is longer than a process can be given"),
                "pass it as a file",
            );
        }
        self.seen.insert(key.to_owned(), number);
        self.pairs.push((key.to_owned(), value.to_owned()));
    }

    fn fail(&mut self, span: Range<usize>, message: &str, help: &str) {
        self.findings
            .push(Finding::error(Code::ENV_FILE, span, message).help(help));
    }
}

/// `export` before the name, as shells write it.
fn strip_export(body: &str) -> &str {
    let Some(rest) = body.strip_prefix("export") else {
        return body;
    };
    let named = rest.trim_start_matches([' ', '\t']);
    if named.len() < rest.len() && !named.starts_with('=') {
        named
    } else {
        body
    }
}

fn is_name(key: &str) -> bool {
    super::rules::is_env_name(key)
}

type Refusal = (usize, &'static str, &'static str);

fn value(rest: &str) -> Result<&str, Refusal> {
    const QUOTE: &str = "put the value in quotes";
    let quote = rest.chars().next().filter(|c| *c == '"' || *c == '\'');
    if let Some(quote) = quote {
        return quoted(rest, quote);
    }
    if rest.starts_with([' ', '\t']) {
        return Err((
            0,
            "a blank after `=`",
            "write `KEY=VALUE` without blanks; a value that begins with one needs quotes",
        ));
    }
    let value = rest.trim_end_matches([' ', '\t']);
    if let Some(at) = value.find(" #").or_else(|| value.find("\t#")) {
        return Err((
            at + 1,
            "` #` in a value without quotes: comment or not?",
            "put the comment on a line of its own, or the value in quotes",
        ));
    }
    match value.find(|c: char| c.is_control() && c != '\t') {
        Some(at) => Err((at, "a control character in the value", QUOTE)),
        None => Ok(value),
    }
}

fn quoted(rest: &str, quote: char) -> Result<&str, Refusal> {
    let Some(end) = rest[1..].find(quote) else {
        return Err((
            0,
            "the closing quote is missing",
            "close the quote in the same line; values over several lines are not read",
        ));
    };
    let after = &rest[end + 2..];
    let blank = after.trim_start_matches([' ', '\t']);
    if blank.is_empty() {
        return Ok(&rest[1..=end]);
    }
    let column = end + 2 + after.len() - blank.len();
    Err((
        column,
        "text after the closing quote",
        "remove it, or use the other kind of quotes around the whole value",
    ))
}
