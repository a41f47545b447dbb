//! The command tree as data, read back from clap's definition: what `cmds.tree` prints and what
//! agents drive cp9 by.

use std::any::TypeId;
use std::fmt::Write as _;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Arg, ArgAction, Command};
use cp9_model::ExitCode;
use serde::Serialize;

use crate::render::style::{DIM, HEAD, paint};

/// Every command, the flags that all take, and the exit codes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tree {
    version: Option<String>,
    global: Vec<Argument>,
    commands: Vec<Node>,
    exit_codes: Vec<Exit>,
}

#[derive(Debug, Serialize)]
struct Node {
    name: String,
    help: String,
    args: Vec<Argument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<Node>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    name: String,
    positional: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    required: bool,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    value_optional: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Exit {
    code: u8,
    meaning: &'static str,
}

impl Tree {
    /// Reads the built definition.
    pub(crate) fn read(root: &Command) -> Self {
        Self {
            version: root.get_version().map(str::to_owned),
            global: root
                .get_arguments()
                .filter(|arg| arg.is_global_set())
                .map(|arg| argument(root, arg))
                .collect(),
            commands: nodes(root, ""),
            exit_codes: ExitCode::ALL
                .map(|code| Exit {
                    code: code.code(),
                    meaning: code.meaning(),
                })
                .into(),
        }
    }

    /// The tree for people.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        write_nodes(&mut text, &self.commands);
        let _ = writeln!(text, "{}", paint(HEAD, "every command"));
        write_args(&mut text, &self.global);
        let _ = writeln!(text, "{}", paint(HEAD, "exit codes"));
        for Exit { code, meaning } in &self.exit_codes {
            let _ = writeln!(text, "    {code:>3}  {meaning}");
        }
        text
    }
}

/// The commands that a user may call; `help` repeats the tree and is left out.
fn nodes(parent: &Command, prefix: &str) -> Vec<Node> {
    let shown = parent
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    shown
        .map(|sub| {
            let name = format!("{prefix}{}", sub.get_name());
            let own = sub
                .get_arguments()
                .filter(|arg| !arg.is_global_set() && !arg.is_hide_set() && !is_help(arg));
            Node {
                help: sub.get_about().map(ToString::to_string).unwrap_or_default(),
                args: own.map(|arg| argument(sub, arg)).collect(),
                commands: nodes(sub, &format!("{name} ")),
                name,
            }
        })
        .collect()
}

fn is_help(arg: &Arg) -> bool {
    matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

fn argument(command: &Command, arg: &Arg) -> Argument {
    let takes_value = arg.get_action().takes_values();
    let switch_default = (!takes_value).then(|| "false".to_owned());
    let default = arg
        .get_default_values()
        .first()
        .map(|value| value.to_string_lossy().into_owned());
    Argument {
        name: arg
            .get_long()
            .unwrap_or_else(|| arg.get_id().as_str())
            .to_owned(),
        positional: arg.is_positional(),
        kind: kind(arg),
        required: arg.is_required_set(),
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        value_name: arg
            .get_value_names()
            .and_then(|names| names.first())
            .filter(|_| takes_value)
            .map(ToString::to_string),
        values: if takes_value { values(arg) } else { Vec::new() },
        default: default.or(switch_default),
        value_optional: takes_value
            && arg
                .get_num_args()
                .is_some_and(|range| range.min_values() == 0),
        conflicts: command
            .get_arg_conflicts_with(arg)
            .iter()
            .map(|other| label(other))
            .collect(),
    }
}

fn label(arg: &Arg) -> String {
    arg.get_long()
        .unwrap_or_else(|| arg.get_id().as_str())
        .to_owned()
}

fn values(arg: &Arg) -> Vec<String> {
    arg.get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect()
}

fn kind(arg: &Arg) -> &'static str {
    let parsed = arg.get_value_parser().type_id();
    if !arg.get_action().takes_values() {
        "boolean"
    } else if !values(arg).is_empty() {
        "enum"
    } else if parsed == TypeId::of::<Duration>() {
        "duration"
    } else if parsed == TypeId::of::<Utf8PathBuf>() {
        "path"
    } else {
        "string"
    }
}

fn write_nodes(text: &mut String, nodes: &[Node]) {
    for node in nodes {
        let _ = writeln!(text, "{}  {}", paint(HEAD, &node.name), node.help);
        write_args(text, &node.args);
        write_nodes(text, &node.commands);
    }
}

fn write_args(text: &mut String, args: &[Argument]) {
    let shown: Vec<(String, &Argument)> = args.iter().map(|arg| (usage(arg), arg)).collect();
    let widest = shown
        .iter()
        .map(|(usage, _)| usage.chars().count())
        .max()
        .unwrap_or_default();
    for (usage, arg) in &shown {
        let _ = writeln!(text, "    {usage:widest$}  {}", paint(DIM, &arg.help));
    }
}

fn usage(arg: &Argument) -> String {
    let value = if arg.values.is_empty() {
        arg.value_name.clone().unwrap_or_default()
    } else {
        arg.values.join("|")
    };
    match (arg.positional, value.is_empty(), arg.value_optional) {
        (true, _, _) => format!("[{value}]"),
        (_, true, _) => format!("--{}", arg.name),
        (_, _, true) => format!("--{}[={value}]", arg.name),
        (_, _, false) => format!("--{} {value}", arg.name),
    }
}
