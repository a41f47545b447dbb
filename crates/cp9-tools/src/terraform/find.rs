//! Which program: named by `CP9_TERRAFORM`, else the first `terraform` or `tofu` of the PATH.

use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_model::{Category, Explain};
use serde::Deserialize;
use thiserror::Error;

use crate::Doors;
use crate::program::{Cmd, ProgramError};

/// Names the program, or its path.
const CHOICE: &str = "CP9_TERRAFORM";
/// How long it may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);
/// The oldest versions whose machine-readable forms have what cp9 reads.
pub const MINIMA: &[(&str, (u32, u32))] = &[("terraform", (1, 5)), ("tofu", (1, 6))];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub program: Utf8PathBuf,
    /// `terraform` or `tofu`.
    pub name: &'static str,
}

/// A program that is recent enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terraform {
    /// Where it is.
    pub program: Utf8PathBuf,
    /// `terraform` or `tofu`.
    pub name: &'static str,
    /// Its version as it tells it.
    pub version: String,
}

/// Why there is none to use.
#[derive(Debug, Error)]
pub enum TerraformError {
    /// Neither is there.
    #[error("neither `terraform` nor `tofu` is on PATH")]
    Missing,
    /// The named one is not there.
    #[error("`{CHOICE}` names `{program}`, which is not there")]
    Named {
        /// As named.
        program: String,
    },
    /// It is too old.
    #[error("`{program}` is version {version}, and {major}.{minor} is the least that works")]
    Old {
        /// Where it is.
        program: Utf8PathBuf,
        /// Its version.
        version: String,
        /// The least major version.
        major: u32,
        /// The least minor version.
        minor: u32,
    },
    /// It does not tell its version.
    #[error("`{program}` does not tell its version")]
    Mute {
        /// Where it is.
        program: Utf8PathBuf,
    },
    /// It cannot be run.
    #[error("cannot ask for the version of Terraform")]
    Program(#[from] ProgramError),
}

impl Explain for TerraformError {
    fn category(&self) -> Category {
        match self {
            Self::Program(source) => source.category(),
            _ => Category::Config,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Missing | Self::Named { .. } => "terraform-missing",
            Self::Old { .. } => "terraform-old",
            Self::Mute { .. } => "terraform-mute",
            Self::Program(source) => source.code(),
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Missing => {
                format!("install Terraform or OpenTofu, or name one with `{CHOICE}=PATH`")
            }
            Self::Named { .. } => format!("mend or unset `{CHOICE}`"),
            Self::Old { .. } => format!("update it, or name another one with `{CHOICE}=PATH`"),
            Self::Mute { program } => format!("see what `{program} version -json` prints"),
            Self::Program(source) => return source.remedy(),
        })
    }
}

impl Doors {
    /// The program to use, without asking it anything.
    pub fn find_terraform(&self) -> Result<Found, TerraformError> {
        if let Some(named) = self.env.get(CHOICE).filter(|named| !named.is_empty()) {
            let program = self.which(named).ok_or_else(|| TerraformError::Named {
                program: named.to_owned(),
            })?;
            let name = flavour(&program);
            return Ok(Found { program, name });
        }
        for dir in self.env.path().split(':').filter(|dir| !dir.is_empty()) {
            for (name, _) in MINIMA {
                if let Some(program) = self.which(&format!("{dir}/{name}")) {
                    return Ok(Found { program, name });
                }
            }
        }
        Err(TerraformError::Missing)
    }

    /// The program to use, recent enough.
    pub async fn terraform(&self) -> Result<Terraform, TerraformError> {
        let found = self.find_terraform()?;
        let cmd = Cmd::new(found.program.as_str())
            .args(["version", "-json"])
            .env("CHECKPOINT_DISABLE", "1")
            .timeout(LIMIT);
        let output = self.run(&cmd).await?.checked()?;
        judge(found, &output.stdout)
    }
}

fn flavour(program: &camino::Utf8Path) -> &'static str {
    let tofu = program
        .file_name()
        .is_some_and(|name| name.contains("tofu"));
    if tofu { "tofu" } else { "terraform" }
}

#[derive(Deserialize)]
struct Version {
    terraform_version: String,
}

/// Reads the answer of `version -json`, in which `OpenTofu` too calls it `terraform_version`.
fn judge(found: Found, answer: &str) -> Result<Terraform, TerraformError> {
    // An update check may say something before the object.
    let object = answer.find('{').map_or("", |at| &answer[at..]);
    let mute = || TerraformError::Mute {
        program: found.program.clone(),
    };
    let version: Version = serde_json::from_str(object.trim()).map_err(|_| mute())?;
    let version = version.terraform_version;
    let mut parts = version
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    let told = parts.next().zip(parts.next()).ok_or_else(mute)?;
    let least = MINIMA.iter().find(|(name, _)| *name == found.name);
    if let Some((_, (major, minor))) = least.filter(|(_, least)| told < *least) {
        return Err(TerraformError::Old {
            program: found.program,
            version,
            major: *major,
            minor: *minor,
        });
    }
    Ok(Terraform {
        program: found.program,
        name: found.name,
        version,
    })
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::{Clock, Environment};

    fn found(name: &'static str) -> Found {
        Found {
            program: format!("/bin/{name}").into(),
            name,
        }
    }

    #[test]
    fn versions_are_read_and_old_ones_refused() {
        let told = |name, version: &str| {
            let answer = format!(r#"{{"terraform_version": "{version}", "platform": "x"}}"#);
            judge(found(name), &answer)
        };
        assert_eq!(told("terraform", "1.11.4").expect("new").version, "1.11.4");
        assert!(told("terraform", "1.5.0-rc1").is_ok());
        assert!(told("terraform", "2.0.0").is_ok());
        assert!(told("tofu", "1.6.2").is_ok());
        let old = told("terraform", "1.4.9").expect_err("old");
        assert_eq!(
            (old.category(), old.code()),
            (Category::Config, "terraform-old")
        );
        assert!(told("tofu", "1.5.7").is_err());
        for mute in [
            "",
            "Terraform v1.11.4",
            "{}",
            r#"{"terraform_version":"x"}"#,
        ] {
            let error = judge(found("tofu"), mute).expect_err(mute);
            assert_eq!(error.code(), "terraform-mute");
        }
    }

    #[test]
    fn the_path_decides_unless_one_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(dir.path()).expect("UTF-8");
        let doors = |path: &str| {
            let env = Environment::new([("PATH".to_owned(), path.to_owned())]);
            Doors::new(env, Clock::system(), false)
        };
        let none = doors("");
        for (folder, name) in [("a", "tofu"), ("b", "terraform"), ("b", "tofu")] {
            none.create_private_dir(&root.join(folder)).expect("made");
            none.write_atomic(&root.join(folder).join(name), b"#!/bin/sh\n", 0o700)
                .expect("written");
        }
        let first = |path: String| doors(&path).find_terraform().expect("one").name;
        assert_eq!(first(format!("{root}/a:{root}/b")), "tofu");
        assert_eq!(first(format!("{root}/b:{root}/a")), "terraform");
        assert_eq!(
            none.find_terraform().expect_err("none").code(),
            "terraform-missing"
        );
        let path = format!("{root}/b");
        let mut named = doors(&path);
        named.env = named.env.with(CHOICE, "tofu");
        assert_eq!(named.find_terraform().expect("named").name, "tofu");
        named.env = named.env.with(CHOICE, "/nowhere/tofu");
        assert!(named.find_terraform().is_err());
    }
}
