//! Problems of the session file and of manifests, as diagnostics with a stable code.

use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::diagnostic::{Code, Finding, Severity, Source};
use cp9_model::yaml::{Options, parse_bytes};

macro_rules! codes {
    ($($name:ident = $id:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub(crate) const $name: Code = Code { id: $id, meaning: $meaning };)*

        /// Every code of this crate, in the order of the documentation.
        pub const CODES: &[Code] = &[$($name),*];
    };
}

codes! {
    REGISTRY = "CP9-C301", "The registry file cannot be read.";
    APPLICATION = "CP9-C302", "The application object is not there, or is there twice.";
    NOT_YET = "CP9-C303", "This build has no adapter for it yet.";
    PATH = "CP9-C304", "The application's path or environment is wrong.";
    MANIFEST = "CP9-C305", "A manifest cannot be read.";
    GRAPH = "CP9-C310", "The services or their order make no graph.";
    WORKLOAD = "CP9-C311", "It is not clear which workload or container is the service.";
    PART = "CP9-C312", "A part of a manifest that a process cannot have.";
    COMMAND = "CP9-C313", "The command of a process is not known.";
    PORT = "CP9-C314", "A port that is told to nobody.";
    VOLUME = "CP9-C315", "A volume or its mount.";
    ENV = "CP9-C316", "A variable.";
    PROBE = "CP9-C317", "A probe.";
    SECRET = "CP9-C318", "A secret value without a written form.";
    BUILD = "CP9-C319", "The build of a source service.";
    OVERRIDE = "CP9-C320", "An override manifest.";
    STUB = "CP9-C321", "A stub.";
    SUBSTRATE = "CP9-C322", "The Terraform root or its var file.";
    CONTRACT = "CP9-C323", "The contract of a stub.";
}

/// A problem of the session file; `place_in` gives it its line once the text is at hand.
pub(crate) fn session(
    config: &ResolvedConfig,
    code: Code,
    pointer: impl Into<String>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    bare(code, &config.file, pointer, message, help)
}

/// A problem of a file as a whole.
pub(crate) fn bare(
    code: Code,
    file: &str,
    pointer: impl Into<String>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic {
        code: code.id.to_owned(),
        severity: Severity::Error,
        message: message.into(),
        file: file.to_owned(),
        line: 1,
        column: 1,
        pointer: pointer.into(),
        help: Some(help.into()),
        snippet: String::new(),
    }
}

/// Gives problems of the session file their line, column and snippet.
pub fn place_in(diagnostics: &mut [Diagnostic], file: &str, text: &str) {
    let options = Options::config();
    // The lines around a place may be those of secrets.
    let source = Source::new(file, text).hiding((options.secrets)(text));
    let Ok(documents) = parse_bytes(file, text.as_bytes(), options) else {
        return;
    };
    let Some(document) = documents.first() else {
        return;
    };
    for found in diagnostics
        .iter_mut()
        .filter(|found| found.file == file && found.snippet.is_empty())
    {
        let place = document.spans().nearest(&found.pointer);
        let code = Code {
            id: "",
            meaning: "",
        };
        let shown =
            Finding::error(code, place.key_or_value(), found.message.clone()).render(&source);
        (found.line, found.column, found.snippet) = (shown.line, shown.column, shown.snippet);
    }
}

/// One key or index of a JSON pointer, escaped.
pub(crate) fn token(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_the_session_file_get_their_place() {
        let config = crate::process::tests::config(&serde_json::json!({}));
        let pointer = "/services/live/api/app/name";
        let mut found = vec![session(&config, GRAPH, pointer, "wrong", "mend it")];
        let text = "name: demo\nservices:\n  live:\n    api:\n      app: {registry: r.yaml}\n";
        place_in(&mut found, "/w/other.yaml", text);
        assert_eq!((found[0].line, found[0].snippet.as_str()), (1, ""));
        place_in(&mut found, "/w/cp9.yaml", text);
        assert_eq!((found[0].line, found[0].column), (5, 7));
        assert!(
            found[0].snippet.contains("app: {registry: r.yaml}"),
            "{}",
            found[0].snippet
        );
        assert_eq!(found[0].code, "CP9-C310");
    }

    #[test]
    fn codes_are_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
}
