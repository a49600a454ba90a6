//! Device-side `printf`: format string and argument buffer to text.
