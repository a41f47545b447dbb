//! The substrate by `OpenTofu` instead of Terraform.

use crate::substrate::{BODY, given, installed_tofu};

#[test]
fn opentofu_makes_a_substrate_keeps_it_and_destroys_it() {
    let Some(mut given) = given(BODY) else { return };
    let Some(program) = installed_tofu() else {
        cp9_testkit::skip("tofu", "not installed, see `cargo xtask tools tofu`");
        return;
    };
    // Named by its path: where Terraform is on PATH too, that one would come first.
    given.sandbox.set_env("CP9_TERRAFORM", &program);
    given.up().assert_code(0);
    assert_eq!(given.things(), ["events", "services"]);
    let calls = given.sandbox.folder().join("logs/calls.jsonl");
    let calls = std::fs::read_to_string(calls).expect("the calls");
    assert!(calls.contains(&program), "{program} was not run");
    let again = given.up().assert_code(0);
    let states = again.data()["states"].as_array().expect("states").clone();
    let apply = states
        .iter()
        .find(|state| state["name"] == "substrate_apply")
        .expect("the state");
    assert_eq!(apply["status"], "kept", "{apply}");
    given.destroy();
}
