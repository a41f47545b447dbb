//! Files are whole, private and where they should be.
