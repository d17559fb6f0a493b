//! Macro for players of plain commands, one line each: the arguments in the driver's form, the
//! call, and the result.

/// Defines functions that play commands of OpenGL ES.
///
/// A line has the command, its id, and each parameter with type and value, in the driver's order.
/// `before` runs when the arguments are ready and the driver has not been called, `after` when the
/// driver has returned. `-> result: T = bits` names the driver's result, and its bits as in a
/// record.
macro_rules! play {
    ($call:ident; $(
        $name:ident = $id:ident($($param:ident: $ty:ty = $value:expr),*)
            $(before { $($before:tt)* })? $(after { $($after:tt)* })?
            $(-> $result:ident: $result_ty:ty = $bits:expr)?;
    )*) => {$(
        #[doc = concat!("Plays `", stringify!($name), "`.")]
        pub fn $name($call: &mut $crate::call::Call<'_, '_>) -> $crate::skip::Outcome {
            $(let $param: $ty = $value;)*
            let driver: unsafe extern "C" fn($($ty),*) $(-> $result_ty)? =
                unsafe { $call.driver(gapii_commands::ids::$id) }?;
            $($($before)*)?
            $(let $result =)? unsafe { driver($($param),*) };
            $($($after)*)?
            let returned: &[u64] = &[$($bits)?];
            $call.returned(returned.first().copied());
            Ok(())
        }
    )*};
}
pub(crate) use play;
