//! Programs that a plan starts and states of others that it reads: neither shows in its changes.

use super::offence::{Offence, Rule};
use super::plan::{Declared, Module};

/// Data sources that reach where a session has no business.
const READS: &[(&str, &str, &str)] = &[
    (
        "external",
        "a data source starts a program",
        "give its result as a variable",
    ),
    (
        "terraform_remote_state",
        "the state of another root is no input of a session",
        "give the value as a variable of the persona's var file",
    ),
];

/// Everything of the kind in a module and those inside it.
pub(super) fn judge(root: &Module) -> Vec<Offence> {
    let mut offences = Vec::new();
    walk(root, "", &mut |declared, address| {
        offences.extend(offence(declared, address));
    });
    offences
}

fn offence(declared: &Declared, address: &str) -> Option<Offence> {
    if let Some(provisioner) = declared.provisioners.first() {
        return Some(Offence::new(
            address,
            Rule::Reach,
            format!(
                "provisioner `{}` does what no plan shows and no destroy undoes",
                provisioner.kind
            ),
            "remove it; what a service needs at start belongs to its manifests",
        ));
    }
    if declared.mode != "data" {
        return None;
    }
    let (_, why, remedy) = READS.iter().find(|(kind, ..)| *kind == declared.kind)?;
    Some(Offence::new(address, Rule::Reach, *why, *remedy))
}

/// The declaration behind an address of a plan, whose keys are taken out.
pub(super) fn declared<'m>(root: &'m Module, address: &str) -> Option<&'m Declared> {
    let wanted = without_keys(address);
    let mut found = None;
    walk(root, "", &mut |declared, address| {
        if address == wanted {
            found = Some(declared);
        }
    });
    found
}

fn walk<'m>(module: &'m Module, at: &str, sink: &mut dyn FnMut(&'m Declared, &str)) {
    for declared in &module.resources {
        sink(declared, &format!("{at}{}", declared.address));
    }
    for (name, call) in &module.module_calls {
        walk(&call.module, &format!("{at}module.{name}."), sink);
    }
}

/// `module.a["x.y"].t.n[0]` without what stands in brackets.
fn without_keys(address: &str) -> String {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    let mut bare = String::new();
    for c in address.chars() {
        match c {
            '"' if depth > 0 && !escaped => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ if depth == 0 => bare.push(c),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_and_dots_inside_them_too() {
        for (address, bare) in [
            ("aws_x.y", "aws_x.y"),
            ("aws_x.y[0]", "aws_x.y"),
            (r#"module.a["b.c"].aws_x.y["]"]"#, "module.a.aws_x.y"),
            (r#"aws_x.y["a\"]b"]"#, "aws_x.y"),
        ] {
            assert_eq!(without_keys(address), bare);
        }
    }
}
