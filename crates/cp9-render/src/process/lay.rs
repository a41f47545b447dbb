//! Variables and files in their final form: plain ones in the plan, secret ones in the secret file.

use cp9_model::Diagnostic;
use cp9_model::devplan::{FileSpec, SecretRef};
use indexmap::IndexMap;

use super::context::{Context, Notes};
use super::environment::{Origin, Variables};
use super::rewrite::Rewriter;
use super::secretfile::SecretFile;
use super::volumes::{File, Mount};
use crate::envfile::Unwritable;
use crate::problem;
use crate::tree::FileTree;

/// What was laid so far.
#[derive(Default)]
pub(crate) struct Laid {
    /// Plain variables.
    pub env: IndexMap<String, String>,
    /// Variables from the secret file.
    pub secrets: Vec<SecretRef>,
    /// Files of mounts.
    pub files: Vec<FileSpec>,
    /// Contents of those that are no secret, below `tilt/inputs`.
    pub contents: FileTree,
    /// The secret file.
    pub secret_file: SecretFile,
}

impl Laid {
    /// Rewrites and lays every variable.
    pub(crate) fn environment(
        &mut self,
        context: &Context<'_>,
        rewriter: &Rewriter<'_>,
        variables: &Variables,
        notes: &mut Notes,
    ) {
        for (name, variable) in variables {
            if matches!(variable.origin, Origin::Fixed | Origin::Patch) {
                self.env.insert(name.clone(), variable.value.clone());
                continue;
            }
            let value = notes.variable(context, rewriter, name, variable);
            if !variable.secret {
                self.env.insert(name.clone(), value);
                continue;
            }
            match self.secret_file.add(name, &value) {
                Ok(key) => {
                    let (env, file) = (name.clone(), secret_path(context));
                    self.secrets.push(SecretRef { env, file, key });
                }
                Err(reason) => {
                    let what = format!("secret variable `{name}`");
                    notes.problems.push(unwritable(context, &what, reason));
                }
            }
        }
    }

    /// Rewrites and lays every file of the mounts.
    pub(crate) fn mounts(
        &mut self,
        context: &Context<'_>,
        rewriter: &Rewriter<'_>,
        mounts: &[Mount],
        notes: &mut Notes,
    ) {
        for mount in mounts {
            for (relative, file) in &mount.files {
                let slash = if relative.is_empty() { "" } else { "/" };
                let path = format!("{}{slash}{relative}", mount.path);
                match file {
                    File::Text(text) => {
                        let text = rewrite(context, rewriter, &path, text, notes);
                        self.file(context, &path, text.into_bytes());
                    }
                    File::Bytes(bytes) => self.file(context, &path, bytes.clone()),
                    File::Secret(text) => {
                        let text = rewrite(context, rewriter, &path, text, notes);
                        self.secret(context, &path, &text, notes);
                    }
                }
            }
        }
    }

    fn file(&mut self, context: &Context<'_>, path: &str, data: Vec<u8>) {
        let below = format!("run/{}{path}", context.name());
        let source = format!("${{session}}/tilt/inputs/{below}");
        self.contents.insert(below.into(), data);
        let path = format!("{}{path}", context.plan_root());
        self.files.push(FileSpec {
            path,
            source,
            key: None,
        });
    }

    fn secret(&mut self, context: &Context<'_>, path: &str, text: &str, notes: &mut Notes) {
        match self.secret_file.add(&format!("FILE{path}"), text) {
            Ok(key) => {
                let (source, key) = (secret_path(context), Some(key));
                let path = format!("{}{path}", context.plan_root());
                self.files.push(FileSpec { path, source, key });
            }
            Err(reason) => {
                let what = format!("secret file `{path}`");
                notes.problems.push(unwritable(context, &what, reason));
            }
        }
    }
}

fn rewrite(
    context: &Context<'_>,
    rewriter: &Rewriter<'_>,
    path: &str,
    text: &str,
    notes: &mut Notes,
) -> String {
    let (plan, real) = (context.plan_root(), context.real_root());
    notes.take(
        &format!("file{path}"),
        rewriter.text(text, &real),
        &real,
        &plan,
    )
}

fn secret_path(context: &Context<'_>) -> String {
    format!("${{session}}/secrets/{}.env", context.name())
}

fn unwritable(context: &Context<'_>, what: &str, reason: Unwritable) -> Diagnostic {
    context.problem(
        problem::SECRET,
        &context.workload.at,
        format!("{what} of service `{}` cannot be written to its env file: {}", context.name(), reason.reason()),
        "give it as one line, for example as base64 that the service decodes, or leave its volume out by `run.ignore`",
    )
}
