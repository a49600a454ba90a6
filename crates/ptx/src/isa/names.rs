//! Enums whose variants have one spelling each.

/// Declares an enum and the spelling of its variants once: `ALL`, `as_str` and `from_name` follow.
macro_rules! names {
    ($(#[$meta:meta])* $vis:vis enum $enum:ident { $($(#[$doc:meta])* $name:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $enum { $($(#[$doc])* $name,)+ }

        impl $enum {
            /// Every one, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its spelling.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The one spelt `name`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($text => Self::$name,)+ _ => return None })
            }
        }
    };
}
pub(super) use names;
