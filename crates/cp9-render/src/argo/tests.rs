//! Reading of applications.
