//! The result of `stub serve --check`: the operations with what they answer, then those that are
//! refused.

use std::fmt::Write as _;

use cp9_model::report::StubReport;
use cp9_model::report::stub::{StubOperation, StubRefusal};

use super::style::{BAD, DIM, clean, paint};

/// The report as text.
pub(crate) fn stub(report: &StubReport) -> String {
    let StubReport {
        kind,
        definition,
        title,
        operations,
        refusals,
    } = report;
    let mut text = format!("stub {}", clean(kind));
    if let Some(definition) = definition {
        let title = title.as_deref().unwrap_or_default();
        let _ = write!(text, " from {} ({})", clean(definition), clean(title));
    }
    let _ = match (definition, refusals.len()) {
        (None, _) => writeln!(text, ": 200 {{}} to everything"),
        (_, 0) => writeln!(text, ": {} operations", operations.len()),
        (_, refused) => writeln!(
            text,
            ": {} operations, {refused} refused",
            operations.len() + refused
        ),
    };
    for operation in operations {
        served(&mut text, operation);
    }
    for refusal in refusals {
        refused(&mut text, refusal);
    }
    text
}

fn served(text: &mut String, operation: &StubOperation) {
    let types = match operation.content_types.as_slice() {
        [] => "no body".to_owned(),
        types => types.join(", "),
    };
    let name = name(&operation.method, &operation.path, operation.id.as_deref());
    let answer = format!("{} {}", operation.status, clean(&types));
    let _ = writeln!(text, "  {name}  {}", paint(DIM, &answer));
}

fn refused(text: &mut String, refusal: &StubRefusal) {
    let name = name(&refusal.method, &refusal.path, refusal.id.as_deref());
    let word = paint(BAD, "refused");
    let _ = writeln!(text, "  {name}  {word}: {}", clean(&refusal.reason));
}

fn name(method: &str, path: &str, id: Option<&str>) -> String {
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    clean(&format!("{method:7} {path}{id}"))
}
