//! AWS for tests: moto, and a proxy before it that records and can be told to fail.

mod moto;
mod proxy;

pub use moto::Moto;
pub use proxy::{Asked, Fault, Proxy};

use camino::{Utf8Path, Utf8PathBuf};

use crate::sandbox::Sandbox;

/// The account that moto plays.
pub const ACCOUNT: &str = "123456789012";
/// The principal of every key that moto does not know.
pub const PRINCIPAL: &str = "arn:aws:sts::123456789012:user/moto";
/// The region of the tests.
pub const REGION: &str = "us-west-2";

/// The keys of one test: values that occur nowhere else, so that a scan can tell that they leaked.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The key's id.
    pub id: String,
    /// Its secret.
    pub secret: String,
}

impl Keys {
    /// Keys named after a sandbox.
    pub fn of(sandbox: &Sandbox) -> Self {
        let name: String = sandbox
            .session()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        Self {
            id: format!("AKIA{}", name.to_uppercase()),
            secret: format!("leaked+{name}/secret+of+a+key"),
        }
    }

    /// Every file below a folder that holds the secret.
    pub fn leaks(&self, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
        leaks([self.secret.as_str()], folder)
    }
}

/// Every file below a folder that holds one of these values: as it is, as it stands in a form's value, or in
/// base64 whatever stands before it.
pub fn leaks<'s>(
    secrets: impl IntoIterator<Item = &'s str>,
    folder: &Utf8Path,
) -> Vec<Utf8PathBuf> {
    let forms: Vec<String> = secrets.into_iter().flat_map(forms).collect();
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            let path = entry.path().to_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && holds(&path, &forms) => found.push(path),
                _ => {}
            }
        }
    }
    found
}

fn holds(path: &Utf8Path, forms: &[String]) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    forms.iter().any(|form| text.contains(form))
}

/// What a value looks like wherever it may stand.
fn forms(secret: &str) -> Vec<String> {
    let encoded = |plus: &str, slash: &str, equals: &str| {
        let text = secret.replace('+', plus).replace('/', slash);
        text.replace('=', equals)
    };
    let mut all = vec![
        secret.to_owned(),
        encoded("%2B", "%2F", "%3D"),
        encoded("%2b", "%2f", "%3d"),
    ];
    all.extend((0..3).filter_map(|skip| Some(base64(secret.as_bytes().get(skip..)?))));
    all.retain(|form| !form.is_empty());
    all
}

/// The whole groups of some bytes in base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks_exact(3).flat_map(|group| {
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift) as usize & 63]))
    });
    digits.collect()
}

impl Sandbox {
    /// Points every run to come at an endpoint, with keys of its own.
    pub fn on_aws(&mut self, endpoint: &str) -> Keys {
        let keys = Keys::of(self);
        self.set_env("AWS_ENDPOINT_URL", endpoint);
        self.set_env("AWS_ACCESS_KEY_ID", &keys.id);
        self.set_env("AWS_SECRET_ACCESS_KEY", &keys.secret);
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_any_form() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(dir.path()).expect("UTF-8");
        let keys = Keys {
            id: String::new(),
            secret: "a+secret/of+a+key".into(),
        };
        assert_eq!(base64(b"hunter2"), "aHVudGVy");
        for (name, text) in [
            ("plain", "x=a+secret/of+a+key;"),
            ("form", "x=a%2Bsecret%2Fof%2Ba%2Bkey"),
            ("lower", "x=a%2bsecret%2fof%2ba%2bkey"),
            ("base64", "eD1hK3NlY3JldC9vZithK2tleQ=="),
            ("none", "a secret of a key"),
        ] {
            std::fs::write(root.join(name), text).expect("a file");
        }
        let mut found = keys.leaks(root);
        found.sort();
        assert_eq!(
            found,
            ["base64", "form", "lower", "plain"].map(|name| root.join(name))
        );
    }
}
