//! The one printer of errors: `error:`, `caused by:`, the problems of files, `hint:`.

use cp9_engine::EngineError;
use cp9_model::output::ErrorBody;
use cp9_model::{Diagnostic, Explain};

use crate::render::style::{BAD, HINT, clean, paint};

/// The JSON form of a failed use case.
pub(crate) fn body(error: &EngineError) -> ErrorBody {
    ErrorBody {
        category: error.category().to_owned(),
        code: error.source.code().to_owned(),
        message: error.source.to_string(),
        causes: causes(error.source.source()),
        hints: error.source.remedy().into_iter().collect(),
        diagnostics: error.diagnostics.clone(),
        exit: error.exit.code(),
    }
}

/// The JSON form of an error of the command line itself.
pub(crate) fn explained(error: &dyn Explain) -> ErrorBody {
    ErrorBody {
        category: error.category().word().to_owned(),
        code: error.code().to_owned(),
        message: error.to_string(),
        causes: causes(error.source()),
        hints: error.remedy().into_iter().collect(),
        diagnostics: Vec::new(),
        exit: error.exit().code(),
    }
}

fn causes(mut next: Option<&(dyn std::error::Error + 'static)>) -> Vec<String> {
    let mut causes = Vec::new();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes
}

/// Takes secrets out of everything that a person or a log may see.
pub(crate) fn redacted(mut body: ErrorBody, redact: impl Fn(&str) -> String) -> ErrorBody {
    body.message = redact(&body.message);
    for text in body.causes.iter_mut().chain(&mut body.hints) {
        *text = redact(text);
    }
    for problem in &mut body.diagnostics {
        problem.message = redact(&problem.message);
        problem.snippet = redact(&problem.snippet);
        problem.help = problem.help.as_deref().map(&redact);
    }
    body
}

/// The form for people.
pub(crate) fn render(body: &ErrorBody) -> String {
    let mut lines = vec![format!("{} {}", paint(BAD, "error:"), clean(&body.message))];
    lines.extend(
        body.causes
            .iter()
            .map(|cause| format!("caused by: {}", clean(cause))),
    );
    for problem in &body.diagnostics {
        lines.push(String::new());
        lines.push(diagnostic(problem));
    }
    if !body.hints.is_empty() {
        lines.push(String::new());
    }
    lines.extend(
        body.hints
            .iter()
            .map(|hint| format!("{} {}", paint(HINT, "hint:"), clean(hint))),
    );
    lines.join("\n")
}

/// One problem of a file, as compilers print it; the snippet begins with the place.
fn diagnostic(problem: &Diagnostic) -> String {
    let Diagnostic {
        code,
        message,
        file,
        line,
        column,
        pointer,
        help,
        snippet,
        ..
    } = problem;
    let word = format!("{}[{code}]:", severity(problem));
    let mut lines = vec![format!("{} {}", paint(BAD, &word), clean(message))];
    if snippet.trim().is_empty() {
        lines.push(format!(" --> {}:{line}:{column}", clean(file)));
    } else {
        lines.push(clean(snippet.trim_end_matches('\n')));
    }
    if !pointer.is_empty() {
        lines.push(format!("  at: {}", clean(pointer)));
    }
    lines.extend(help.iter().map(|help| format!("  help: {}", clean(help))));
    lines.join("\n")
}

fn severity(problem: &Diagnostic) -> &'static str {
    match problem.severity {
        cp9_model::diagnostic::Severity::Error => "error",
        cp9_model::diagnostic::Severity::Warning => "warning",
    }
}
