//! Tests of this module's rules on values.

use camino::Utf8Path;

use super::*;

#[test]
fn smallest_file() {
    let text = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: abc\n";
    let loaded = load(Utf8Path::new("/w/cp9.yaml"), text.as_bytes()).expect("loads");
    assert_eq!(loaded.resolved.name.as_str(), "abc");
    let yaml = resolved_yaml(&loaded.resolved);
    let back: resolved::ResolvedConfig = serde_saphyr::from_str(&yaml).expect("reads back");
    assert_eq!(back, loaded.resolved);
}
