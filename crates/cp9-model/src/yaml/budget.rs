//! What a read may cost, and what it found wrong.

use std::ops::Range;

use super::options::Options;
use crate::diagnostic::{Code, Finding};

/// Beyond this many a text is not worth reading on.
const MOST: usize = 200;

/// The budget and the findings of one read.
pub(super) struct Budget {
    max_nodes: usize,
    max_copies: usize,
    written: usize,
    copied: usize,
    pub(super) errors: Vec<Finding>,
    /// True when the read must end.
    pub(super) fatal: bool,
}

impl Budget {
    pub(super) fn new(options: &Options) -> Self {
        let (max_nodes, max_copies) = (options.max_nodes, options.max_copies);
        Self {
            max_nodes,
            max_copies,
            written: 0,
            copied: 0,
            errors: Vec::new(),
            fatal: false,
        }
    }

    /// Adds what is wrong; too much of it ends the read.
    pub(super) fn add(&mut self, finding: Finding) {
        self.errors.push(finding);
        self.fatal |= self.errors.len() >= MOST;
    }

    /// Adds what ends the read.
    pub(super) fn fail(&mut self, finding: Finding) {
        self.errors.push(finding);
        self.fatal = true;
    }

    /// Nodes so far, copies included.
    pub(super) fn spent(&self) -> usize {
        self.written + self.copied
    }

    /// Counts a node that is written out.
    pub(super) fn write(&mut self, range: &Range<usize>) {
        self.written += 1;
        if self.written == self.max_nodes + 1 {
            let message = format!("more than {} values", self.max_nodes);
            self.fail(Finding::error(Code::TOO_LARGE, range.clone(), message));
        }
    }

    /// Counts a copy; false when it is too much.
    pub(super) fn copy(&mut self, weight: usize, range: &Range<usize>) -> bool {
        self.copied += weight;
        let within = self.copied <= self.max_copies;
        if !within {
            let message = format!("aliases expand to more than {} values", self.max_copies);
            let finding = Finding::error(Code::ALIASES, range.clone(), message);
            self.fail(finding.help("write the values out"));
        }
        within
    }
}
