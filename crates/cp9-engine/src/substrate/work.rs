//! One substrate at work: its folder, its program, its identity, and where its progress is told.

use camino::Utf8PathBuf;
use cp9_cloud::aws::{Aws, AwsError};
use cp9_model::Scope;
use cp9_model::substrate::{Expected, Track, Whereabouts};
use cp9_tools::Secret;
use cp9_tools::terraform::{Place, Terraform, Variables};

use super::paths::Paths;
use super::record::{self, InitRecord};
use crate::destroy::ledger;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;

/// Receives a few words of progress.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&str);

/// Everything that a call of Terraform needs.
pub(crate) struct Work<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) folder: Folder,
    pub(crate) paths: Paths,
    pub(crate) terraform: Terraform,
    pub(crate) place: Place,
    pub(crate) expected: Expected,
    pub(crate) partition: String,
    pub(crate) scope: Scope,
    pub(crate) aws: Option<Aws>,
}

/// Whose substrate it is and where, as it was proven, and the credentials that prove it.
pub(crate) struct Identity {
    pub(crate) expected: Expected,
    pub(crate) partition: String,
    pub(crate) scope: Scope,
    pub(crate) credentials: Vec<(String, Secret)>,
    /// The proven client; none where nothing is to be asked.
    pub(crate) aws: Option<Aws>,
}

/// The credentials of an identity as Terraform's providers read them.
pub(crate) async fn credentials(aws: &Aws) -> Result<Vec<(String, Secret)>, AwsError> {
    let found = aws.credentials().await?;
    let mut pairs = vec![
        ("AWS_ACCESS_KEY_ID".to_owned(), found.access_key.clone()),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), found.secret_key.clone()),
    ];
    let token = found.session_token.iter();
    pairs.extend(token.map(|token| ("AWS_SESSION_TOKEN".to_owned(), token.clone())));
    Ok(pairs)
}

impl<'a> Work<'a> {
    /// A substrate whose root module lies at `root` below the working copy.
    pub(crate) fn new(
        engine: &'a Engine,
        folder: &Folder,
        terraform: Terraform,
        root: &str,
        identity: Identity,
    ) -> Self {
        let paths = Paths::of(folder);
        let region = identity.expected.region.clone();
        let marks = identity.scope.env();
        let marks = marks
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let variables = ["AWS_REGION", "AWS_DEFAULT_REGION"]
            .map(|name| (name.to_owned(), region.clone()))
            .into_iter()
            .chain(marks)
            .collect();
        Self {
            engine,
            folder: folder.clone(),
            place: Place {
                root: paths.source().join(root),
                data: paths.data(),
                variables,
                credentials: identity.credentials,
            },
            paths,
            terraform,
            expected: identity.expected,
            partition: identity.partition,
            scope: identity.scope,
            aws: identity.aws,
        }
    }

    /// The var files, the session's own values last.
    pub(super) fn variables(&self) -> Variables {
        let record: Option<InitRecord> = record::load(self.engine, &self.paths.init());
        let named = record.and_then(|record| record.var_file);
        let persona = named.map(|name| self.paths.root.join(name));
        let values = self.paths.values();
        let files = persona.into_iter().chain([values]);
        Variables {
            files: files
                .filter(|file: &Utf8PathBuf| self.engine.doors.exists(file))
                .collect(),
        }
    }

    pub(super) fn at(&self) -> Whereabouts<'_> {
        Whereabouts {
            partition: &self.partition,
            account: &self.expected.account,
            region: &self.expected.region,
        }
    }

    /// What is known of each resource.
    pub(super) fn track(&self) -> Track {
        ledger::track(self.engine, &self.folder)
    }

    /// Writes what is known of each resource.
    pub(super) fn keep(&self, track: &Track) -> Result<(), EngineError> {
        let Expected {
            account, region, ..
        } = &self.expected;
        ledger::keep(self.engine, &self.folder, track, account, region)
    }
}
