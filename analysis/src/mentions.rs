//! The names of objects that commands have in their arguments, in memory, and as results.

use gapii_commands::Api;
use gapii_trace::Command;
use gapii_trace::description::{Function, Kind, Observed, Repr, Type};
use gapii_trace::value::Observation;

use crate::identity::{namespace, result_name, result_type};
use crate::role::Role;

/// The names of objects among a function's parameters and results.
#[derive(Clone, Default, Debug)]
pub struct Names {
    /// Whether it deletes the objects that it names.
    pub deletes: bool,
    /// Whether the names are those of a share group of OpenGL ES.
    pub is_gles: bool,
    creates: bool,
    /// Parameters that are names or lead to names: their position and namespace.
    params: Vec<(usize, u64)>,
    /// Namespace of the result, if it is the name of a new object.
    result: Option<u64>,
}

/// A name that a command has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mention {
    /// Tells apart names of different kinds of objects ([`namespace`]).
    pub namespace: u64,
    /// The name or handle; may be 0.
    pub name: u64,
    /// Whether the command gives the name to a new object.
    pub is_new: bool,
}

impl Names {
    /// Returns what a function does with names.
    pub fn of(function: &Function) -> Self {
        let known = function.known;
        let creates = Role::Creates.is_of(known);
        let is_handle = |ty: &Type| ty.kind == Kind::Handle;
        let params = function.params.iter().enumerate().filter_map(|(at, param)| {
            let ty = match param.ty.kind {
                Kind::Handle => param.ty,
                _ => param.element.filter(is_handle)?,
            };
            Some((at, namespace(known, ty, &param.name)))
        });
        let result = result_type(function);
        let result = (creates && is_handle(&result))
            .then(|| namespace(known, result, result_name(function)));
        let mut params: Vec<_> = params.collect();
        let deletes = Role::Deletes.is_of(known);
        if deletes {
            // The objects to delete are the last parameter: `eglDestroyContext(dpy, ctx)`.
            params.drain(..params.len().saturating_sub(1));
        }
        let is_gles = Api::named(&function.api) == Some(Api::Gl);
        Self { deletes, is_gles, creates, params, result }
    }

    /// Whether the function has no names.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty() && self.result.is_none()
    }

    /// Whether the function does more with objects than to make or delete them.
    pub fn uses(&self) -> bool {
        !self.creates && !self.deletes
    }

    /// Namespaces of the function's parameters.
    pub fn namespaces(&self) -> impl Iterator<Item = u64> {
        self.params.iter().map(|(_, namespace)| *namespace)
    }

    /// Passes each name that a command of this function has to `take`.
    pub fn each(&self, command: &Command<'_>, mut take: impl FnMut(Mention)) {
        let mut params = self.params.iter().peekable();
        for (position, arg) in command.args().enumerate() {
            let Some((_, namespace)) = params.next_if(|(at, _)| *at == position) else { continue };
            let namespace = *namespace;
            if arg.param.ty.kind == Kind::Handle {
                take(Mention { namespace, name: arg.value.bits(), is_new: false });
                continue;
            }
            let is_new = self.creates && arg.param.observed == Observed::Out;
            for name in names_in(command, arg.observation, arg.param.element) {
                take(Mention { namespace, name, is_new });
            }
        }
        let ranges = command.ranges_read().map(|range| (range, false));
        let written = command.ranges_written().map(|range| (range, self.creates));
        for (range, is_new) in ranges.chain(written) {
            let of_param = |(at, _): &&(usize, u64)| range.param.map(usize::from) == Some(*at);
            let Some((_, namespace)) = self.params.iter().find(of_param) else { continue };
            for name in names_in(command, range.observation, command.element_of(&range)) {
                take(Mention { namespace: *namespace, name, is_new });
            }
        }
        if let Some((namespace, (value, _))) = self.result.zip(command.result()) {
            take(Mention { namespace, name: value.bits(), is_new: true });
        }
    }
}

/// The names in a memory.
fn names_in(command: &Command<'_>, seen: Observation<'_>, ty: Option<Type>) -> Vec<u64> {
    let bytes = command.bytes_of(seen);
    let bytes = bytes.as_deref().unwrap_or_default();
    match ty.and_then(|ty| ty.repr) {
        Some(Repr::U32) => {
            let words = bytes.as_chunks::<4>().0.iter();
            words.map(|word| u32::from_le_bytes(*word).into()).collect()
        }
        Some(Repr::Pointer | Repr::U64) => {
            bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
        }
        _ => Vec::new(),
    }
}
