//! Builder methods of settings.

/// Defines a method for each field named: `with_field(self, field)` returns the settings with another value of it.
macro_rules! builder {
    ($($method:ident($field:ident: $kind:ty)),+ $(,)?) => {
        $(
            #[doc = concat!("The same settings with another `", stringify!($field), "`.")]
            #[must_use]
            pub fn $method(mut self, $field: $kind) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
}

pub(in crate::learn) use builder;
