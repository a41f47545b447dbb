//! Requests and answers of every protocol.
