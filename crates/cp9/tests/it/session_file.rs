//! Session files that are no session files: exit 3 with a line, never a panic or a hang, nothing created.

use std::time::Duration;

use cp9_testkit::Sandbox;

use crate::prebuilt::CP9;

/// Writes a session file and runs `up` on it.
#[track_caller]
fn refused(what: &str, bytes: &[u8]) {
    let sandbox = Sandbox::new(CP9);
    std::fs::write(sandbox.path("cp9.yaml"), bytes).expect("a file");
    let run = sandbox
        .cp9(["up", "--json"])
        .limit(Duration::from_secs(20))
        .run()
        .assert_code(3);
    assert!(run.millis < 10_000, "{what} took {} ms", run.millis);
    let error = &run.json()["error"];
    assert_eq!(error["category"], "config", "{what}: {error}");
    let diagnostics = error["diagnostics"].as_array().expect("diagnostics");
    assert!(!diagnostics.is_empty(), "{what}");
    for diagnostic in diagnostics {
        assert!(
            diagnostic["line"].as_u64().is_some_and(|line| line >= 1),
            "{what}: {diagnostic}"
        );
        assert!(
            diagnostic["file"]
                .as_str()
                .is_some_and(|file| file.ends_with("cp9.yaml")),
            "{what}: {diagnostic}"
        );
    }
    let text = sandbox.cp9(["up"]).run().assert_code(3);
    assert!(text.stderr.contains("cp9.yaml:"), "{what}: {}", text.stderr);
    assert!(
        !sandbox.path(".cp9").exists(),
        "{what}: a refused file creates nothing"
    );
}

const HEAD: &str = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: demo\n";

/// So many lines.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut lines: Vec<String> = (0..count).map(line).collect();
    lines.push(String::new());
    lines.join("\n")
}

#[test]
fn malformed() {
    refused("an open list", b"name: [\n");
    refused("a tab", b"name:\n\t- x\n");
    refused(
        "an unknown alias",
        format!("{HEAD}host: *nobody\n").as_bytes(),
    );
    refused("a wrong type", format!("{HEAD}host: 7\n").as_bytes());
    refused("a list", b"- a\n- b\n");
    refused("a second document", format!("{HEAD}---\n{HEAD}").as_bytes());
    refused("control characters", b"name: \x00\x01\n");
    refused("bytes that are no text", b"name: \xff\xfe\xfa\n");
}

#[test]
fn empty() {
    refused("nothing", b"");
    refused("a comment", b"# nothing here\n");
    refused("blanks", b"   \n\n");
}

#[test]
fn huge_and_deep() {
    refused(
        "ten megabytes",
        format!("{HEAD}x: {}\n", "a".repeat(10_000_000)).as_bytes(),
    );
    refused(
        "a hundred thousand keys",
        lines(100_000, |i| format!("k{i}: v")).as_bytes(),
    );
    refused(
        "deep lists",
        format!("{HEAD}x: {}{}\n", "[".repeat(100_000), "]".repeat(100_000)).as_bytes(),
    );
    let nested = lines(2_000, |i| format!("{}k:", " ".repeat(i)));
    refused("deep maps", nested.as_bytes());
}

#[test]
fn alias_bomb() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let refs = vec![format!("*a{}", i - 1); 9].join(", ");
        text += &lines(1, |_| format!("a{i}: &a{i} [{refs}]"));
    }
    refused("an alias bomb", text.as_bytes());
}

#[test]
fn duplicate_keys() {
    refused("a name twice", format!("{HEAD}name: other\n").as_bytes());
}

#[test]
fn utf_16() {
    let utf16 = |text: &str, little: bool| -> Vec<u8> {
        let bom = if little { [0xff, 0xfe] } else { [0xfe, 0xff] };
        let units = text.encode_utf16().flat_map(|unit| {
            if little {
                unit.to_le_bytes()
            } else {
                unit.to_be_bytes()
            }
        });
        bom.into_iter().chain(units).collect()
    };
    refused("little endian", &utf16(HEAD, true));
    refused("big endian", &utf16(HEAD, false));
}

#[test]
fn values_that_this_build_has_no_adapter_for_are_named_before_anything_is_made() {
    let sandbox = Sandbox::new(CP9);
    sandbox.write(
        "cp9.yaml",
        &format!("{HEAD}host:\n  mode: local-k3d\ntarget:\n  cloud: local\n"),
    );
    let run = sandbox.cp9(["up"]).run().assert_code(3);
    assert!(
        run.stderr.contains("local-k3d") && run.stderr.contains("cp9.yaml:5"),
        "{}",
        run.stderr
    );
    assert!(!sandbox.path(".cp9").exists());
}

#[test]
fn a_session_without_services_goes_from_up_to_destroy() {
    let sandbox = Sandbox::new(CP9);
    let name = sandbox.session().to_owned();
    sandbox.write(
        "cp9.yaml",
        &format!("apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: {name}\nhost:\n  mode: process\ntarget:\n  cloud: local\n"),
    );
    sandbox.cp9(["up"]).run().assert_code(0);
    let status = sandbox.status();
    assert_eq!(status["controller"]["state"], "running");
    assert_eq!(status["services"].as_array().map(Vec::len), Some(0));
    sandbox.destroy();
}
