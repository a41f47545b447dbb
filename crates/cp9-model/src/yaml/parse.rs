//! From bytes to documents: encoding and size first, then the parser's events into the builder.

use granit_parser::{ErrorKind, Event, Parser, ScanError, options};

use super::build::Builder;
use super::node::Document;
use super::options::Options;
use crate::diagnostic::{Code, Diagnostic, Finding, Source, report};

/// Reads every document of a text, or says everything that hinders it.
///
/// # Errors
/// At least one diagnostic with its place.
pub fn parse_bytes(
    file: &str,
    bytes: &[u8],
    options: Options,
) -> Result<Vec<Document>, Vec<Diagnostic>> {
    let text = decode(file, bytes, &options)?;
    let source = Source::new(file, text).hiding((options.secrets)(text));
    parse_source(&source, options).map_err(|found| report(&source, found))
}

/// The tree of every document; findings not yet rendered.
pub(crate) fn parse_source(
    source: &Source<'_>,
    options: Options,
) -> Result<Vec<Document>, Vec<Finding>> {
    let mut parser_options = options! {
        emit_unresolved_aliases: true,
        // As the Go reader does.
        block_scalar_eof_without_line_feed: true,
        flow_nesting_limit: options.max_depth,
        block_nesting_limit: options.max_depth,
    };
    parser_options.set_emit_comments(false);
    let mut builder = Builder::new(source, options);
    for next in Parser::new_from_str_with_options(source.text, parser_options) {
        let stop = match next {
            Ok((event, span)) => {
                let end = matches!(event, Event::StreamEnd);
                builder.take(event, &span).is_break() || end
            }
            Err(error) => {
                builder.fail(syntax(source, &error));
                true
            }
        };
        if stop {
            break;
        }
    }
    builder.finish()
}

const SAVE: &str = "save the file as UTF-8";

/// The bytes as UTF-8 text; a byte-order mark of another encoding, a NUL and an oversized text are refused.
///
/// # Errors
/// One diagnostic that names the place.
pub fn decode<'a>(
    file: &str,
    bytes: &'a [u8],
    options: &Options,
) -> Result<&'a str, Vec<Diagnostic>> {
    let refuse = |at: usize, code, message: String, help: &str| {
        let shown = String::from_utf8_lossy(&bytes[..at.min(bytes.len()).min(64 * 1024)]);
        let finding = Finding::error(code, shown.len()..shown.len(), message).help(help);
        let source = Source::new(file, &shown).hiding((options.secrets)(&shown));
        Err(vec![finding.render(&source)])
    };
    if bytes.len() > options.max_bytes {
        let message = format!(
            "the file has {} bytes, at most {} are read",
            bytes.len(),
            options.max_bytes
        );
        return refuse(
            0,
            Code::TOO_LARGE,
            message,
            "check that this is the file you meant",
        );
    }
    if let Some(encoding) = foreign_mark(bytes) {
        return refuse(
            0,
            Code::ENCODING,
            format!("the file is {encoding}, not UTF-8"),
            SAVE,
        );
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return refuse(
            at,
            Code::ENCODING,
            "a NUL byte: the file is UTF-16 or no text".into(),
            SAVE,
        );
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.valid_up_to();
            refuse(
                at,
                Code::ENCODING,
                format!("byte 0x{:02x} is not UTF-8", bytes[at]),
                SAVE,
            )
        }
    }
}

fn foreign_mark(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0, 0, 0xfe, 0xff, ..] | [0xff, 0xfe, 0, 0, ..] => Some("UTF-32"),
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => Some("UTF-16"),
        _ => None,
    }
}

fn syntax(source: &Source<'_>, error: &ScanError) -> Finding {
    let at = source.boundary(error.marker().byte_offset().unwrap_or(0));
    let end = source.text[at..]
        .chars()
        .next()
        .filter(|c| *c != '\n')
        .map_or(at, |c| at + c.len_utf8());
    let deep = matches!(error.kind(), ErrorKind::RecursionLimitExceeded);
    if deep {
        return Finding::error(Code::TOO_DEEP, at..end, "nested too deeply");
    }
    let finding = Finding::error(Code::SYNTAX, at..end, error.info());
    match remedy(error.kind()) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

fn remedy(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation => "indent with spaces",
        ErrorKind::UnclosedQuotedScalar => "close the quote",
        ErrorKind::MappingValueNotAllowed => {
            "check the line above: each key is followed by a colon and a blank, and text with `: ` in it needs quotes"
        }
        ErrorKind::InvalidSimpleKey
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::ExpectedBlockMappingKey => {
            "check the indentation, and that each key is followed by a colon and a blank"
        }
        ErrorKind::ExpectedFlowMappingSeparator => {
            "close the brace in the line above, or add a comma"
        }
        ErrorKind::ExpectedFlowSequenceSeparator => {
            "close the bracket in the line above, or add a comma"
        }
        _ => return None,
    })
}
