//! Secrets of the past, known by what they cannot be read from: the length and a salted digest of each of
//! their forms, and twelve bits of how it begins, by which most of a text need not be looked at.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{SHORTEST, forms};
use crate::secret::Secret;

/// How many different beginnings are told apart.
const STARTS: usize = 1 << 12;
/// How much of a digest is kept, in bytes.
const KEPT: usize = 16;

/// What is kept of secrets that are no longer in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    salt: String,
    forms: BTreeSet<Print>,
}

/// One form of a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Print {
    length: usize,
    start: u16,
    digest: String,
}

impl Former {
    /// Knows none yet. The salt is to be no other's.
    pub fn new(salt: &str) -> Self {
        Self {
            salt: salt.to_owned(),
            forms: BTreeSet::new(),
        }
    }

    /// Takes a secret that will not be known otherwise any more; true unless it is known already. Values
    /// under four bytes are ignored.
    pub fn add(&mut self, secret: &Secret) -> bool {
        if secret.expose().len() < SHORTEST {
            return false;
        }
        let keyed = Keyed::new(&self.salt);
        let before = self.forms.len();
        for form in forms::of(secret.expose()) {
            let Some(start) = keyed.start(form.as_bytes()) else {
                continue;
            };
            self.forms.insert(Print {
                length: form.len(),
                start,
                digest: keyed.digest(form.as_bytes()),
            });
        }
        self.forms.len() > before
    }
}

/// A salt made ready.
#[derive(Debug, Clone)]
struct Keyed {
    salted: Sha256,
    factor: u64,
}

impl Keyed {
    fn new(salt: &str) -> Self {
        let salted = Sha256::new().chain_update(salt).chain_update([0]);
        let seed = salted.clone().finalize();
        let seed = seed
            .iter()
            .take(8)
            .fold(0, |seed, byte| (seed << 8) | u64::from(*byte));
        Self {
            salted,
            factor: seed | 1,
        }
    }

    /// Twelve bits of the first four bytes.
    fn start(&self, text: &[u8]) -> Option<u16> {
        let first: [u8; SHORTEST] = text.get(..SHORTEST)?.try_into().ok()?;
        let mixed = u64::from(u32::from_le_bytes(first)).wrapping_mul(self.factor) >> 20;
        u16::try_from(mixed % STARTS as u64).ok()
    }

    fn digest(&self, text: &[u8]) -> String {
        let digest = self.salted.clone().chain_update(text).finalize();
        digest
            .iter()
            .take(KEPT)
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>()
            .concat()
    }
}

/// Finds former secrets in a text.
#[derive(Debug)]
pub(super) struct Search {
    keyed: Keyed,
    /// By beginning, the longest first.
    forms: BTreeMap<u16, Vec<(usize, String)>>,
    starts: Vec<bool>,
    pub(super) longest: usize,
}

impl Search {
    pub(super) fn new(former: &Former) -> Self {
        let mut search = Self {
            keyed: Keyed::new(&former.salt),
            forms: BTreeMap::new(),
            starts: vec![false; STARTS],
            longest: 0,
        };
        for print in former.forms.iter().rev() {
            let forms = search.forms.entry(print.start).or_default();
            forms.push((print.length, print.digest.clone()));
            search.longest = search.longest.max(print.length);
            if let Some(start) = search.starts.get_mut(usize::from(print.start)) {
                *start = true;
            }
        }
        search
    }

    /// The first form at or after a byte, the longest of those that begin there.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        (from..bytes.len()).find_map(|at| {
            let start = self.keyed.start(&bytes[at..])?;
            if !self.starts[usize::from(start)] {
                return None;
            }
            let end = self.end(text, at, start)?;
            Some((at, end))
        })
    }

    fn end(&self, text: &str, at: usize, start: u16) -> Option<usize> {
        let forms = self.forms.get(&start)?;
        let found = forms.iter().find(|(length, digest)| {
            let form = text.get(at..at + length);
            form.is_some_and(|form| self.keyed.digest(form.as_bytes()) == *digest)
        });
        found.map(|(length, _)| at + length)
    }
}
