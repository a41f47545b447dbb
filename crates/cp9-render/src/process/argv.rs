//! The command of a process: `run.command`, or the container's with the built binary in front.

use cp9_model::Diagnostic;
use cp9_model::graph::ServiceKind;
use serde_json::Value;

use super::context::Context;
use super::declared::expanded;
use super::environment::Variables;
use crate::problem;

/// Programs that read a script, so that the service would not be the process.
const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox", "pwsh",
];

/// The word in `run.command` for the binary built from source.
pub(crate) const BINARY: &str = "${binary}";

/// A command before it is rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// The arguments, the program first.
    pub argv: Vec<String>,
    /// True when the binary built from source stands in place of the first.
    pub built: bool,
    /// True when it comes from the session file.
    pub own: bool,
}

/// The command of a service.
pub(crate) fn build(
    context: &Context<'_>,
    links: &Variables,
    variables: &Variables,
) -> Result<Command, Vec<Diagnostic>> {
    if let Some(command) = context
        .run
        .command
        .as_ref()
        .filter(|words| !words.is_empty())
    {
        let built = context.node.kind == ServiceKind::Source
            && command.first().is_some_and(|program| program == BINARY);
        return Ok(Command {
            argv: command.clone(),
            built,
            own: true,
        });
    }
    if context.node.kind != ServiceKind::Source {
        return Err(vec![context.session_problem(
            problem::COMMAND,
            "",
            format!("live service `{}` runs from an image, and a process needs a command", context.name()),
            format!("set `services.live.{}.run.command`, make the service a stub, or use a host with a cluster", context.name()),
        )]);
    }
    let command = words(context, "command")?;
    refuse_shell(context, &command)?;
    let rest = command.into_iter().skip(1).chain(words(context, "args")?);
    let mut argv = vec![BINARY.to_owned()];
    let mut problems = Vec::new();
    for word in rest {
        let (text, secret) = expanded(&word, links, variables);
        if secret {
            problems.push(secret_argument(context, &word));
        }
        argv.push(text);
    }
    if problems.is_empty() {
        Ok(Command {
            argv,
            built: true,
            own: false,
        })
    } else {
        Err(problems)
    }
}

fn words(context: &Context<'_>, field: &str) -> Result<Vec<String>, Vec<Diagnostic>> {
    let at = format!("{}/{field}", context.workload.at);
    let word = |(index, word): (usize, &Value)| match word.as_str() {
        Some(text) if !text.contains('\0') => Ok(text.to_owned()),
        _ => Err(vec![context.problem(
            problem::COMMAND,
            &format!("{at}/{index}"),
            format!("an entry of `{field}` is not text"),
            "put it in quotes, as a cluster would ask too",
        )]),
    };
    context
        .workload
        .manifest
        .list(&at)
        .iter()
        .enumerate()
        .map(word)
        .collect()
}

fn refuse_shell(context: &Context<'_>, command: &[String]) -> Result<(), Vec<Diagnostic>> {
    let Some(program) = command.first() else {
        return Ok(());
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    if !SHELLS.contains(&name) {
        return Ok(());
    }
    Err(vec![context.problem(
        problem::COMMAND,
        &format!("{}/command/0", context.workload.at),
        format!("service `{}` is started by a shell, `{program}`, which the built binary cannot stand in for", context.name()),
        format!("set `services.source.{}.run.command`, with `{BINARY}` for the built binary, or start the service without a shell", context.name()),
    )])
}

fn secret_argument(context: &Context<'_>, word: &str) -> Diagnostic {
    let at = ["args", "command"]
        .iter()
        .find_map(|field| {
            let list = format!("{}/{field}", context.workload.at);
            let index = context
                .workload
                .manifest
                .list(&list)
                .iter()
                .position(|known| known.as_str() == Some(word))?;
            Some(format!("{list}/{index}"))
        })
        .unwrap_or_else(|| context.workload.at.clone());
    context.problem(
        problem::COMMAND,
        &at,
        format!("argument `{word}` holds a secret, which every user of this machine could read"),
        "let the service read the variable itself, or mount the Secret as a file",
    )
}
