//! `cp9 schema`.

use crate::{cp9, envelope};

fn schema(args: &[&str]) -> serde_json::Value {
    let home = tempfile::tempdir().expect("a private home");
    let output = cp9(home.path(), args).output().expect("cp9 starts");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        crate::text(&output)
    );
    serde_json::from_slice(&output.stdout).expect("a schema is JSON")
}

#[test]
fn each_published_schema_is_printed() {
    for which in ["cp9", "devplan", "facts", "output"] {
        let found = schema(&["schema", which]);
        assert_eq!(found["$id"], format!("{which}.schema.json"));
        assert!(found["$schema"].is_string(), "{found}");
    }
    assert_eq!(schema(&["schema"]), schema(&["schema", "cp9"]));
}

#[test]
fn under_json_it_is_the_data_of_the_envelope() {
    let home = tempfile::tempdir().expect("a private home");
    let found = envelope(
        &cp9(home.path(), &["schema", "output", "--json"])
            .output()
            .expect("cp9 starts"),
    );
    assert_eq!(found["data"], schema(&["schema", "output"]));
}
