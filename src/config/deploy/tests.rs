//! Each format, and what is no file of settings.
