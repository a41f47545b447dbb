//! Public contracts, as many as there are: each is served with valid answers throughout, or refused
//! with a reason. The folder stands beside the checkout and may be absent.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use camino::Utf8Path;
use cp9_stub::{Config, Kind, StubError, survey};
use serde_json::Value;

use crate::client::Served;
use crate::independent::Opinion;

/// How long one document may take, in a build without optimisation on a busy machine.
const LIMIT: Duration = Duration::from_mins(2);

/// What became of one document.
#[derive(Debug)]
enum Fate {
    /// Every operation was called and its answer found valid.
    Served(usize),
    /// It was refused with a reason.
    Refused(String),
}

#[derive(Debug, Default)]
struct Tally {
    served: usize,
    operations: usize,
    refused: usize,
    other_versions: usize,
    none: usize,
}

#[test]
fn every_document_is_served_validly_or_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/openapi");
    if !folder.is_dir() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIP: corpus: no folder of public contracts"
        );
        return;
    }
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    let mut report = String::new();
    for file in files(&folder) {
        let name = file
            .strip_prefix(&folder)
            .expect("below it")
            .display()
            .to_string();
        match fate(&file) {
            Ok(Fate::Served(operations)) => {
                tally.served += 1;
                tally.operations += operations;
                let _ = writeln!(report, "{name}\tserved\t{operations}");
            }
            Ok(Fate::Refused(reason)) => {
                match version(&file).as_deref() {
                    Some(version) if version.starts_with("3.0") => tally.refused += 1,
                    Some(_) => tally.other_versions += 1,
                    None => tally.none += 1,
                }
                let _ = writeln!(report, "{name}\trefused\t{reason}");
            }
            Err(fault) => wrong.push(format!("{name}: {fault}")),
        }
    }
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi-corpus.txt");
    std::fs::write(&list, report).expect("the report is written");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A regression would refuse whole documents, which is no fault by itself.
    assert!(tally.operations > 900, "{tally:?}");
}

/// Runs one document on a thread of its own, so that a hang is a fault and not the end.
fn fate(file: &Path) -> Result<Fate, String> {
    let (sender, receiver) = mpsc::channel();
    let file = file.to_owned();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let _ = sender.send(runtime.block_on(tried(&file)));
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(fate) => fate,
        Err(mpsc::RecvTimeoutError::Timeout) => Err("it hangs".into()),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("it panics".into()),
    }
}

async fn tried(file: &Path) -> Result<Fate, String> {
    let file = Utf8Path::from_path(file).ok_or("no UTF-8 path")?;
    let mut config = Config::new(Kind::OpenApi);
    config.definition = Some(file.to_owned());
    let served = match Served::start(&config).await {
        Ok(served) => served,
        Err(error) => return refused(file, &error).map(Fate::Refused),
    };
    let document = parsed(file.as_std_path()).ok_or("served without being a document")?;
    let opinion = Opinion::on(&document);
    let found = survey(file).map_err(|error| error.to_string())?;
    let mut client = served.client().await;
    for operation in &found.operations {
        let called = format!("{} {}", operation.method, operation.path);
        let path = concrete(&operation.path);
        let method = operation.method.to_lowercase();
        let mut offers: Vec<&str> = operation.content_types.iter().map(String::as_str).collect();
        if offers.is_empty() {
            offers.push("*/*");
        }
        for accept in offers {
            let headers = [("accept", accept)];
            let reply = client
                .request(&operation.method, &path, &headers, b"")
                .await;
            if reply.status != operation.status {
                return Err(format!("{called}: status {}", reply.status));
            }
            if operation.method == "HEAD" {
                continue;
            }
            let media = reply.header("content-type").to_owned();
            let verdict = opinion.of_body(
                (&operation.path, &method),
                reply.status,
                &media,
                &reply.body,
            );
            verdict.map_err(|why| format!("{called}: {why}"))?;
        }
    }
    drop(client);
    served.stop().await;
    Ok(Fate::Served(found.operations.len()))
}

/// A refusal names the file and says why.
fn refused(file: &Utf8Path, error: &StubError) -> Result<String, String> {
    let mut told = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        told = format!("{told}: {cause}");
    }
    if !told.contains(file.as_str()) || error.remedy().is_empty() {
        return Err(format!("refused without its name: {told}"));
    }
    for detail in error.details() {
        if detail.is_empty() || detail.ends_with(": ") {
            return Err(format!("refused without a reason: {detail:?}"));
        }
        told = format!("{told}; {detail}");
    }
    Ok(told.replace(file.as_str(), "…").replace('\n', " "))
}

/// The path with every parameter filled in.
fn concrete(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((text, tail)) = rest.split_once('{') {
        out.push_str(text);
        out.push('1');
        rest = tail.split_once('}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

fn version(file: &Path) -> Option<String> {
    let document = parsed(file)?;
    let version = document
        .get("openapi")
        .or_else(|| document.get("swagger"))?;
    Some(
        version
            .as_str()
            .map_or_else(|| version.to_string(), str::to_owned),
    )
}

fn parsed(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(&text)
        .ok()
        .or_else(|| serde_saphyr::from_str(&text).ok())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path
            .extension()
            .is_some_and(|end| end == "json" || end == "yml" || end == "yaml")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}
