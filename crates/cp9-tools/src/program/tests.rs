//! Programs run, fail, hang and are ended.
