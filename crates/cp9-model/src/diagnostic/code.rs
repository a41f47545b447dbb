//! The one table of diagnostic codes; tests and docs key on them, so a code never changes its meaning.

/// A stable code with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `CP9-Cnnn`.
    pub id: &'static str,
    /// What it means, one line.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($name:ident = $id:literal, $meaning:literal;)*) => {
        impl Code {
            $(#[doc = $meaning] pub const $name: Self = Self { id: $id, meaning: $meaning };)*

            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

codes! {
    ENCODING = "CP9-C001", "The file is not UTF-8 text.";
    TOO_LARGE = "CP9-C002", "The file is larger than any sensible one.";
    SYNTAX = "CP9-C003", "The file is not YAML.";
    TOO_DEEP = "CP9-C004", "The document is nested too deeply.";
    DUPLICATE_KEY = "CP9-C005", "A key stands twice in one mapping.";
    ALIASES = "CP9-C006", "Aliases expand to more than any sensible document holds.";
    SCALAR = "CP9-C007", "A key or value has no JSON form.";
    DOCUMENTS = "CP9-C008", "The file is empty, or holds more than one document.";
    MORE = "CP9-C009", "There are more problems than are shown.";
    UNKNOWN_KEY = "CP9-C010", "A key that the format does not know.";
    WRONG_TYPE = "CP9-C011", "A value of the wrong type.";
    NOT_ALLOWED = "CP9-C012", "A value outside the allowed ones.";
    MISSING_KEY = "CP9-C013", "A required key is missing.";
    REMOVED_KEY = "CP9-C014", "A key of an older format that is gone.";
    SCHEMA = "CP9-C015", "Another rule of the schema is broken.";
    VERSION = "CP9-C016", "The file is of a version or kind that cp9 does not read.";
    NAME = "CP9-C020", "A name breaks the rule of names.";
    DURATION = "CP9-C021", "A value is not a duration.";
    UNKNOWN_SERVICE = "CP9-C022", "A service is named that the file does not declare.";
    TWICE = "CP9-C023", "Something is declared more than once.";
    CYCLE = "CP9-C024", "Services need each other in a circle.";
    COMBINATION = "CP9-C025", "Settings do not go together.";
    PATH = "CP9-C026", "A path cannot be used as it is written.";
    EMPTY = "CP9-C027", "A list or text is empty where something is needed.";
    VALUE = "CP9-C028", "A value is not of the expected form.";
    ADAPTER = "CP9-C030", "This build has no adapter for a value.";
    PERMISSIVE = "CP9-C031", "A stub without a definition answers everything.";
    ENV_FILE = "CP9-C040", "A line of an env file is not `KEY=VALUE`.";
}
