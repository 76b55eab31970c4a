//! How configs are written: each key once, with its documentation, type and default.

/// A config that can be read from text and written to it.
///
/// A field without a default is an argument of `new`, and a key that must be given. A field with a default has a setter
/// `with_*`, and its key may be left out. Unknown keys are errors.
macro_rules! config {
    (
        $(#[$about:meta])*
        pub struct $name:ident $(<$generic:ident: $bound:ident>)? {
            $($(#[$doc:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
        }
        $($new:tt)*
    ) => {
        $crate::config::options! {
            $(#[$about])*
            #[derive(PartialEq, serde::Serialize)]
            pub struct $name $(<$generic: $bound>)? {
                $($(#[$doc])* pub $field: $type $(= $default)?,)*
            }
            $($new)*
        }

        impl<'de $(, $generic: $bound)?> serde::Deserialize<'de> for $name $(<$generic>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Config $(<$generic>)? {
                    $($field: Option<$type>,)*
                }
                let given = Config::deserialize(deserializer)?;
                Ok(Self { $($field: $crate::config::given!(given.$field, $field $(, $default)?),)* })
            }
        }
    };
}

/// A config that only code makes: the struct, `new` from the fields without a default, and setters of the others.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident $(<$generic:ident: $bound:ident>)? {
            $($(#[$doc:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
        }
        $(#[$new_doc:meta])*
        pub fn new($($argument:ident: $argument_type:ty),*);
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $name $(<$generic: $bound>)? {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $(<$generic: $bound>)? $name $(<$generic>)? {
            $(#[$new_doc])*
            pub fn new($($argument: $argument_type),*) -> Self {
                Self { $($field: $crate::config::initial!($field $(, $default)?),)* }
            }

            $($crate::config::setter! { $field: $type $(= $default)? })*
        }
    };
}

/// The value of a key: as given, or its default; an error where there is neither.
macro_rules! given {
    ($given:expr, $field:ident) => {
        $given.ok_or_else(|| serde::de::Error::missing_field(stringify!($field)))?
    };
    ($given:expr, $field:ident, $default:expr) => {
        $given.unwrap_or_else(|| $default)
    };
}

/// The value of a field in `new`: the argument of its name, or its default.
macro_rules! initial {
    ($field:ident) => {
        $field.into()
    };
    ($field:ident, $default:expr) => {
        $default
    };
}

/// The setter of a field with a default.
macro_rules! setter {
    ($field:ident: $type:ty) => {};
    ($field:ident: $type:ty = $default:expr) => {
        pastey::paste! {
            #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            pub fn [<with_ $field>](mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            }
        }
    };
}

pub(crate) use {config, given, initial, options, setter};
