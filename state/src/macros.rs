//! Macros that generated code uses.

/// Declares structs of state. Each field has a type and an initial value.
///
/// A `scope` is the state of a context, a share group, a process or a thread; an `object` is the state of one
/// object; a `value` is a struct that is the type of fields. A struct with fields of whole state has `<S>` behind
/// its name.
#[macro_export]
macro_rules! state {
    ($(
        $(#[$meta:meta])* $kind:ident $name:ident $(<$scope:ident>)? $(($($param:ident: $param_ty:ty),*))? {
            $($(#[$doc:meta])* $field:ident: $ty:ty = $first:expr,)*
        }
    )*) => {$(
        $crate::state_struct! {
            $kind $(#[$meta])* $name $(<$scope>)? $(($($param: $param_ty),*))? {
                $($(#[$doc])* $field: $ty = $first,)*
            }
        }
    )*};
}

/// One struct of [`state`].
#[doc(hidden)]
#[macro_export]
macro_rules! state_struct {
    (scope $(#[$meta:meta])* $name:ident<$scope:ident>($($param:ident: $param_ty:ty),*) {
        $($(#[$doc:meta])* $field:ident: $ty:ty = $first:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<$scope: Scope = Tracked> {
            $($(#[$doc])* pub $field: $ty,)*
            /// An API may have no field that depends on the scope.
            _scope: std::marker::PhantomData<$scope>,
        }

        impl<$scope: Scope> $name<$scope> {
            /// The initial state.
            pub fn new($($param: $param_ty),*) -> Self {
                Self { $($field: $first,)* _scope: std::marker::PhantomData }
            }
        }

        $crate::state_struct!(whole $name);
        $crate::stored_struct! {
            $name<Whole> { $($field,)* } _scope: std::marker::PhantomData
        }
    };
    (object $(#[$meta:meta])* $name:ident<$scope:ident> {
        $($(#[$doc:meta])* $field:ident: $ty:ty = $first:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name<$scope: Scope = Tracked> {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl<$scope: Scope> Default for $name<$scope> {
            fn default() -> Self {
                Self { $($field: $first,)* }
            }
        }

        impl<$scope: Scope> $crate::Object for $name<$scope> {
            type Kind = $name;
            const KIND: &str = stringify!($name);
            const WHOLE: bool = $scope::WHOLE;
        }

        $crate::state_struct!(whole $name);
        $crate::stored_struct! { $name<Whole> { $($field,)* } }
    };
    (object $(#[$meta:meta])* $name:ident $fields:tt) => {
        $crate::state_struct! { value $(#[$meta])* $name $fields }

        impl $crate::Object for $name {
            type Kind = Self;
            const KIND: &str = stringify!($name);
            // The shim keeps no history.
            const WHOLE: bool = false;
        }
    };
    (value $(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $ty:ty = $first:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $first,)* }
            }
        }

        $crate::stored_struct! { $name { $($field,)* } }
    };
    (whole $name:ident) => {
        impl<S: Scope> Scoped for $name<S> {
            type Scope = S;
            type Whole = $name<Whole>;
        }
    };
}

/// Declares a module for each command, with the functions `enter`, for the command's call, and `leave`, for the
/// driver's return.
///
/// The first three parameters are the thread in scope `S`, the program's memory `M`, and the observer `O`.
/// A function with a `Whole` thread does nothing in another scope.
#[macro_export]
macro_rules! command_modules {
    ($(mod $name:ident { $(fn $part:ident $params:tt $body:block)* })*) => {$(
        pub mod $name {
            use super::*;

            $($crate::command_part! { $part $params $body })*
        }
    )*};
}

/// One function of [`command_modules`].
#[doc(hidden)]
#[macro_export]
macro_rules! command_part {
    ($part:ident (
        $thread:ident: S, $memory:ident: M, $seen:ident: O $(, $arg:ident: $ty:ty)* $(,)?
    ) $body:block) => {
        pub fn $part<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
            $thread: &mut Thread<S>,
            $memory: &M,
            $seen: &mut O,
            $($arg: $ty,)*
        ) $body
    };
    ($part:ident (
        $thread:ident: Whole, $memory:ident: M, $seen:ident: O $(, $arg:ident: $ty:ty)* $(,)?
    ) $body:block) => {
        pub fn $part<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
            $thread: &mut Thread<S>,
            $memory: &M,
            $seen: &mut O,
            $($arg: $ty,)*
        ) {
            if S::WHOLE && let Some($thread) = $thread.whole() $body
        }
    };
}
