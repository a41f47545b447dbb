//! `run`: how a service becomes a process.

use crate::config::check::{Check, child};
use crate::config::raw::{Run, Session};
use crate::config::resolved::HostMode;
use crate::diagnostic::Code;
use crate::scope::ENV_START;

/// Stands for the binary that was built from source.
const BINARY: &str = "${binary}";
/// Stands for the place where a build must put it.
const OUTPUT: &str = "${output}";

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    let Some(services) = &session.services else {
        return;
    };
    let mode = session
        .host
        .as_ref()
        .map(|host| host.mode)
        .unwrap_or_default();
    for (name, service) in services.source.iter().flatten() {
        let pointer = child("/services/source", name);
        one(check, &pointer, service.run.as_ref());
        source_command(check, &pointer, service.run.as_ref());
    }
    for (name, service) in services.live.iter().flatten() {
        let pointer = child("/services/live", name);
        one(check, &pointer, service.run.as_ref());
        live_command(check, &pointer, service.run.as_ref());
        let command = service.run.as_ref().and_then(|run| run.command.as_ref());
        if HostMode::from(mode) == HostMode::Process
            && check.sound("/host/mode")
            && check.sound(&pointer)
            && command.is_none()
        {
            let message =
                format!("live service `{name}` has an image, and `process` hosts run no images");
            let found = check.key(Code::COMBINATION, &pointer, message);
            check
                .add(found.help(
                    "add `run.command:` with the program on this machine, or make it a stub",
                ));
        }
    }
}

fn one(check: &mut Check<'_>, service: &str, run: Option<&Run>) {
    let Some(run) = run else { return };
    let pointer = child(service, "run");
    for (name, value) in run.env.iter().flatten() {
        let here = child(&child(&pointer, "env"), name);
        variable(check, &here, name, true);
        if value.contains('\0') {
            let found = check.value(
                Code::VALUE,
                &here,
                format!("the value of `{name}` holds a NUL character"),
            );
            check.add(found.help("no program can be given such a value"));
        }
    }
    for (port, name) in run.ports.iter().flatten() {
        let here = child(&child(&pointer, "ports"), port);
        variable(check, &here, name, false);
        if port.trim().is_empty() {
            let found = check.key(Code::EMPTY, &here, "a port without a name");
            check.add(found.help("use the port's name in the manifest, or its number in quotes"));
        }
    }
    if let Some(container) = &run.container
        && container.parse::<crate::name::ServiceName>().is_err()
    {
        let found = check.value(
            Code::NAME,
            &child(&pointer, "container"),
            format!("`{container}` is no name of a container"),
        );
        check.add(found.help("use the `name` of a container of the manifest"));
    }
}

/// What is built must be what runs, else a deploy would prove nothing.
fn source_command(check: &mut Check<'_>, service: &str, run: Option<&Run>) {
    let Some(command) = run.and_then(|run| run.command.as_ref()) else {
        return;
    };
    let pointer = child(&child(service, "run"), "command");
    if !check.sound(&pointer) || command.is_empty() {
        return;
    }
    if !command.iter().any(|word| word.contains(BINARY)) {
        let message = "the command does not name the built binary, so something else would run";
        let found = check.value(Code::VALUE, &pointer, message);
        let help = "put `${binary}` where the path of the built binary belongs, first at best";
        check.add(found.help(help));
    }
    placeholder(check, &pointer, command, OUTPUT, "use `${binary}`");
}

fn live_command(check: &mut Check<'_>, service: &str, run: Option<&Run>) {
    let Some(command) = run.and_then(|run| run.command.as_ref()) else {
        return;
    };
    let pointer = child(&child(service, "run"), "command");
    let help = "name the program itself, or move the service to `services.source`";
    for word in [BINARY, OUTPUT] {
        placeholder(check, &pointer, command, word, help);
    }
}

/// Refuses a placeholder that means nothing here.
fn placeholder(check: &mut Check<'_>, pointer: &str, command: &[String], word: &str, help: &str) {
    let found = command.iter().position(|argument| argument.contains(word));
    let Some(at) = found.filter(|_| check.sound(pointer)) else {
        return;
    };
    let message = format!("`{word}` means nothing in this command");
    let found = check.value(Code::VALUE, &child(pointer, &at.to_string()), message);
    check.add(found.help(help));
}

fn variable(check: &mut Check<'_>, pointer: &str, name: &str, is_key: bool) {
    let (message, help) = if !super::is_env_name(name) {
        (
            format!("`{name}` is no name of an environment variable"),
            "use letters, digits and `_`, not starting with a digit",
        )
    } else if name == "CP9_SESSION" || name == ENV_START || name.starts_with("CP9_SESSION_") {
        (format!("`{name}` is set by cp9 itself"), "use another name")
    } else {
        return;
    };
    let found = if is_key {
        check.key(Code::VALUE, pointer, message)
    } else {
        check.value(Code::VALUE, pointer, message)
    };
    check.add(found.help(help));
}
