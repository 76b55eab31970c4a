//! Setters and serde defaults of configs.

/// `with_*` functions for the fields of a config.
macro_rules! setters {
    ($($with:ident($field:ident: $type:ty);)*) => {$(
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        pub fn $with(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )*};
}
pub(crate) use setters;

/// For serde defaults.
pub(crate) fn relu() -> crate::ops::Activation {
    crate::ops::Activation::Relu
}

/// For serde defaults.
pub(crate) fn yes() -> bool {
    true
}

/// For serde defaults.
pub(crate) fn one() -> usize {
    1
}

/// For serde defaults.
pub(crate) fn fifty() -> usize {
    50
}
