//! The table's files as a table: each is read strictly, and what one row says of another is checked.

use cp9_model::yaml::{Options, parse_bytes};
use thiserror::Error;

use super::arn::ArnPattern;
use super::row::Family;
use super::table::{Table, Type};

/// The version of the format.
const VERSION: u32 = 1;

/// A file of the table that cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// It is no YAML, or has keys or values that the format does not know.
    #[error("file `{file}` of the type table cannot be read: {why}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// It is of another version.
    #[error("file `{file}` of the type table has version {version}, {VERSION} is known")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
    },
    /// A row contradicts another one or itself.
    #[error("type `{kind}` of the type table {why}")]
    Row {
        /// The type.
        kind: String,
        /// What is wrong.
        why: String,
    },
}

/// Reads files, each a name and a text.
pub(super) fn table(files: &[(&str, &str)]) -> Result<Table, TableError> {
    let mut types = Vec::new();
    for (file, text) in files {
        types.extend(family(file, text)?);
    }
    Table::of(types)
}

fn family(file: &str, text: &str) -> Result<Vec<Type>, TableError> {
    let malformed = |why: String| TableError::Malformed {
        file: file.to_owned(),
        why,
    };
    let documents = parse_bytes(file, text.as_bytes(), Options::config()).map_err(|found| {
        let first = found.first();
        malformed(first.map_or_else(String::new, |first| first.message.clone()))
    })?;
    let value = documents
        .first()
        .map(cp9_model::yaml::Document::to_json)
        .unwrap_or_default();
    let family: Family =
        serde_json::from_value(value).map_err(|error| malformed(error.to_string()))?;
    if family.version != VERSION {
        return Err(TableError::Version {
            file: file.to_owned(),
            version: family.version,
        });
    }
    let Family {
        services, types, ..
    } = family;
    let rows = types.into_iter().map(|row| {
        let wrong = |why: &str| TableError::Row {
            kind: row.kind.clone(),
            why: why.to_owned(),
        };
        let arn =
            ArnPattern::new(&row.arn).ok_or_else(|| wrong("has an ARN that is no pattern"))?;
        let of_arn = row.arn.split(':').next().unwrap_or_default();
        let service = row.service.clone().unwrap_or_else(|| of_arn.to_owned());
        let wire = services
            .get(&service)
            .ok_or_else(|| wrong("is of a service that its file does not name"))?;
        Ok(Type {
            wire: wire.clone(),
            arn,
            service,
            row,
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "version: 1\nservices: {sqs: {protocol: json10}}\ntypes:\n  - kind: sqs:queue\n    \
        arn: sqs:{region}:{account}:{name}\n    leaf: true\n    describe: {call: A}\n    delete: [{call: B}]\n";

    #[test]
    fn what_the_format_does_not_know_is_refused() {
        assert!(table(&[("a", ROW)]).is_ok());
        for (from, to) in [
            ("leaf: true", "leaf: true\n    leaves_nothing: 1"),
            ("{call: A}", "{call: A, cal: B}"),
            ("version: 1", "version: 2"),
            ("{name}", "{name"),
            ("sqs: {", "sns: {"),
            ("leaf: true", "leaf: perhaps"),
            ("leaf: true", "after: [sns:topic]"),
        ] {
            let text = ROW.replace(from, to);
            assert!(table(&[("a", &text)]).is_err(), "{text}");
        }
        let twice = table(&[("a", ROW), ("b", ROW)]).expect_err("a type twice");
        assert_eq!(
            twice.to_string(),
            "type `sqs:queue` of the type table is there twice"
        );
    }
}
