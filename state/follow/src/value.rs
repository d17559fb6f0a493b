//! State as a tree that tools can show. Of objects the named ones come first, then the deleted ones that the state
//! keeps.

use gapii_state::{Object, Objects, Ref};

/// A piece of state.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// No object, or an optional without a value.
    None,
    Bool(bool),
    Number(i64),
    /// An unsigned number that may exceed `i64::MAX`.
    Unsigned(u64),
    Float(f64),
    /// A value of an enum group of the registry: `GL` or `EGL`.
    Enum {
        group: &'static str,
        value: u64,
    },
    /// Bits of a group of the registry.
    Bits {
        group: &'static str,
        value: u64,
    },
    /// A variant of an enum of the descriptions.
    Named(&'static str),
    /// An address in the program's memory.
    Address(u64),
    Handle(u64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// Entries by key.
    Map(Vec<(Value, Value)>),
    /// Fields in the order of their declaration.
    Record(Vec<(&'static str, Value)>),
    /// An object: kind, name, and the serial number that distinguishes objects of the same name.
    Object {
        kind: &'static str,
        name: u64,
        serial: u32,
    },
}

/// State that can be converted to a [`Value`].
pub trait Describe {
    fn describe(&self) -> Value;
}

/// A kind of object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Its name in the description.
    pub name: &'static str,
    /// What an object of this kind belongs to.
    pub owner: Owner,
    /// Whether commands that touch such an object are noted (`gapii_state::touched`).
    pub is_noted: bool,
}

/// What objects belong to. Two owners have different objects of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    Process,
    ShareGroup,
    Context,
}

/// Returns the value of a field, converted by `show`.
pub fn shown<T>(field: &T, show: impl Fn(&T) -> Value) -> Value {
    show(field)
}

/// Implements [`Describe`] for structs. A field may have its own conversion.
#[macro_export]
macro_rules! record {
    ($($name:ty { $($field:ident $(: $show:expr)?,)* })*) => {$(
        impl Describe for $name {
            fn describe(&self) -> Value {
                Value::Record(vec![$((
                    stringify!($field).trim_start_matches("r#"),
                    $crate::record_field!(self.$field $(, $show)?),
                ),)*])
            }
        }
    )*};
}

/// One field of a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! record_field {
    ($field:expr) => {
        $field.describe()
    };
    ($field:expr, $show:expr) => {
        $crate::value::shown(&$field, $show)
    };
}

/// Lists the kinds of objects, with the names of their types, and their initial states.
#[macro_export]
macro_rules! kinds {
    ($($kind:ident: $state:ty, $owner:ident;)*) => {
        /// All kinds of objects.
        pub const KINDS: &[$crate::value::Kind] = &[$($crate::value::Kind {
            name: stringify!($kind),
            owner: $crate::value::Owner::$owner,
            is_noted: <$state as gapii_state::Object>::WHOLE,
        }),*];

        /// Returns the state in which an object of a kind begins.
        pub fn initial(kind: &str) -> Value {
            match kind {
                $(stringify!($kind) => <$state>::default().describe(),)*
                _ => Value::None,
            }
        }
    };
}

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl Describe for $ty {
            fn describe(&self) -> Value {
                Value::Number(i64::from(*self))
            }
        }
    )*};
}

whole_numbers!(u8, i8, u16, i16, u32, i32, i64);

impl Describe for u64 {
    fn describe(&self) -> Value {
        i64::try_from(*self).map_or(Value::Unsigned(*self), Value::Number)
    }
}

impl Describe for bool {
    fn describe(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Describe for f32 {
    fn describe(&self) -> Value {
        Value::Float(f64::from(*self))
    }
}

impl Describe for f64 {
    fn describe(&self) -> Value {
        Value::Float(*self)
    }
}

impl Describe for String {
    fn describe(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Object> Describe for Ref<T> {
    fn describe(&self) -> Value {
        match self.is_some() {
            true => Value::Object { kind: T::KIND, name: self.name(), serial: self.serial() },
            false => Value::None,
        }
    }
}

/// Returns all objects of a kind: first those with a name, then deleted ones.
pub fn objects<T: Object<Kind: Object> + Describe>(objects: &Objects<T>) -> Value {
    let named = objects.named().map(|found| (found, false));
    let deleted = objects.deleted().map(|found| (found, true));
    let entries = named.chain(deleted).map(|((object, state), is_deleted)| {
        let mut fields = match state.describe() {
            Value::Record(fields) => fields,
            other => vec![("value", other)],
        };
        if is_deleted {
            fields.insert(0, ("deleted", Value::Bool(true)));
        }
        (object.describe(), Value::Record(fields))
    });
    Value::Map(entries.collect())
}

/// Converts a list or an array, each element by `element`.
pub fn list<T>(elements: &[T], element: impl Fn(&T) -> Value) -> Value {
    Value::List(elements.iter().map(element).collect())
}

/// Converts a map, its keys by `key` and its values by `value`.
pub fn map<'a, K: 'a, V: 'a>(
    entries: impl IntoIterator<Item = (&'a K, &'a V)>,
    key: impl Fn(&K) -> Value,
    value: impl Fn(&V) -> Value,
) -> Value {
    Value::Map(entries.into_iter().map(|(k, v)| (key(k), value(v))).collect())
}

/// Converts an optional, its value by `inner`.
pub fn optional<T>(value: &Option<T>, inner: impl Fn(&T) -> Value) -> Value {
    value.as_ref().map_or(Value::None, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Toy {
        size: u32,
    }

    impl Object for Toy {
        type Kind = Self;
        const KIND: &str = "Toy";
        const WHOLE: bool = true;
    }

    impl Describe for Toy {
        fn describe(&self) -> Value {
            Value::Record(vec![("size", self.size.describe())])
        }
    }

    #[test]
    fn deleted_objects_come_last_and_are_marked() {
        let mut toys = Objects::<Toy>::default();
        let old = toys.create(2);
        toys.delete(2);
        let new = toys.create(2);
        let size = |size| ("size", Value::Number(size));
        assert_eq!(
            objects(&toys),
            Value::Map(vec![
                (new.describe(), Value::Record(vec![size(0)])),
                (old.describe(), Value::Record(vec![("deleted", Value::Bool(true)), size(0)])),
            ])
        );
    }

    #[test]
    fn number_above_the_signed_maximum_keeps_its_value() {
        assert_eq!(u64::MAX.describe(), Value::Unsigned(u64::MAX));
        assert_eq!(7u64.describe(), Value::Number(7));
    }
}
