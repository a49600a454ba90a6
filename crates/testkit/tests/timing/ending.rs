//! How launches end when they do not end well.
