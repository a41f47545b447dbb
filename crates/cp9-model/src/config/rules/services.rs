//! Services: each in one block, its build, its stub, its app object.

use std::collections::BTreeSet;

use super::cycles::unknown;
use super::names::KINDS;
use crate::config::check::{Check, child};
use crate::config::raw::{Build, Session, Stub, StubKind};
use crate::diagnostic::{Code, Finding, Severity};

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    one_block_each(check);
    app_delivery(check, session);
    opt_ins(check, session);
    let Some(services) = &session.services else {
        return;
    };
    for (name, source) in services.source.iter().flatten() {
        build(
            check,
            &child(&child("/services/source", name), "build"),
            &source.build,
        );
    }
    for (name, stub) in services.stub.iter().flatten() {
        let pointer = child("/services/stub", name);
        self::stub(
            check,
            &pointer,
            name,
            stub.as_ref().unwrap_or(&Stub::default()),
        );
    }
}

fn one_block_each(check: &mut Check<'_>) {
    for (at, kind) in KINDS.iter().enumerate() {
        for name in check.keys(&format!("/services/{kind}")) {
            let earlier = KINDS[..at]
                .iter()
                .find(|kind| check.keys(&format!("/services/{kind}")).contains(&name));
            let Some(earlier) = earlier else { continue };
            let pointer = child(&format!("/services/{kind}"), name);
            let message = format!(
                "service `{name}` stands in both `services.{earlier}` and `services.{kind}`"
            );
            let found = check
                .key(Code::TWICE, &pointer, message)
                .help("keep it in one of the two");
            check.add(found);
        }
    }
}

fn app_delivery(check: &mut Check<'_>, session: &Session) {
    let has = |kind: &str| !check.keys(&format!("/services/{kind}")).is_empty();
    let kind = ["source", "live"].into_iter().find(|kind| has(kind));
    let (Some(kind), None) = (kind, &session.app_delivery) else {
        return;
    };
    if !check.sound("/appDelivery") {
        return;
    }
    let message = format!("`appDelivery` is missing, which `services.{kind}` needs");
    let found = check.key(Code::MISSING_KEY, &format!("/services/{kind}"), message);
    check
        .findings
        .push(found.help("add `appDelivery:` with `repo:` and `env:`"));
}

fn opt_ins(check: &mut Check<'_>, session: &Session) {
    let known: BTreeSet<_> = check.keys("/services/source").into_iter().collect();
    for (at, name) in session.source_build_services.iter().flatten().enumerate() {
        if !known.contains(name.as_str()) && !name.trim().is_empty() {
            unknown_source(check, &format!("/source_build_services/{at}"), name, &known);
        }
    }
}

fn unknown_source(check: &mut Check<'_>, pointer: &str, name: &str, known: &BTreeSet<&str>) {
    let other = ["live", "stub"]
        .into_iter()
        .find(|kind| check.keys(&format!("/services/{kind}")).contains(&name));
    let Some(other) = other else {
        return unknown(check, pointer, name, known);
    };
    let message = format!("`{name}` is in `services.{other}`, so there is nothing to build");
    let found = check.value(Code::UNKNOWN_SERVICE, pointer, message);
    check.add(found.help("move the service to `services.source`, or take it out of this list"));
}

fn build(check: &mut Check<'_>, pointer: &str, build: &Build) {
    if !check.sound(pointer) {
        return;
    }
    let found = match (&build.main, &build.command) {
        (Some(_), Some(_)) => {
            let found = check.key(
                Code::COMBINATION,
                &child(pointer, "command"),
                "both `main` and `command` say how to build",
            );
            found.help("keep one of them")
        }
        (None, None) => {
            let found = check.key(
                Code::MISSING_KEY,
                pointer,
                "neither `main` nor `command` says how to build",
            );
            found.help("add `main:` with the entry source file, or `command:` with `${output}`")
        }
        (Some(main), None) => {
            let extension = main.rsplit_once('.').map(|(_, extension)| extension);
            if matches!(extension, Some("go" | "rs")) {
                return;
            }
            let message = format!("cp9 does not know how to build `{main}`");
            let found = check.value(Code::VALUE, &child(pointer, "main"), message);
            found.help("name a `.go` or `.rs` file, or give `command:` with `${output}`")
        }
        (None, Some(command))
            if command.is_empty()
                || command
                    .iter()
                    .any(|argument| argument.contains("${output}")) =>
        {
            return;
        }
        (None, Some(_)) => {
            let found = check.value(
                Code::VALUE,
                &child(pointer, "command"),
                "the build command does not say where the binary lands",
            );
            found.help("put `${output}` where the command takes the path of the binary")
        }
    };
    check.add(found);
}

fn stub(check: &mut Check<'_>, pointer: &str, name: &str, stub: &Stub) {
    if !check.sound(pointer) {
        return;
    }
    let ways = [
        ("swagger", stub.swagger.is_some()),
        ("proto", stub.proto.is_some()),
        ("kind", stub.kind.is_some()),
    ];
    let given: Vec<_> = ways
        .iter()
        .filter(|(_, given)| *given)
        .map(|(way, _)| *way)
        .collect();
    match given.as_slice() {
        [] => {
            let message =
                format!("stub `{name}` has no definition and answers everything with success");
            let found = Finding {
                severity: Severity::Warning,
                ..check.key(Code::PERMISSIVE, pointer, message)
            };
            check.add(found.help("name a `swagger` or `proto` file, or say `kind: permissive`"));
        }
        [first, second, ..] => {
            let message = format!("stub `{name}` has both `{first}` and `{second}`");
            let found = check.key(Code::COMBINATION, &child(pointer, second), message);
            check.add(found.help("keep one of `swagger`, `proto` and `kind`"));
        }
        [_] => {}
    }
    let recorder = matches!(
        stub.kind,
        Some(StubKind::MeteringRecorder | StubKind::BillingRecorder)
    );
    if recorder && stub.output.is_none() {
        let found = check.key(
            Code::MISSING_KEY,
            pointer,
            format!("recorder `{name}` has no `output`"),
        );
        check.add(found.help(format!(
            "add `output: .cp9/${{name}}/stubs/{name}/payloads.jsonl`"
        )));
    }
    if !recorder && stub.output.is_some() {
        let message = format!("stub `{name}` records nothing, so `output` says nothing");
        let found = check.key(Code::COMBINATION, &child(pointer, "output"), message);
        check.add(
            found.help("remove it, or use `kind: metering-recorder` or `kind: billing-recorder`"),
        );
    }
}
