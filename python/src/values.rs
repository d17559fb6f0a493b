//! Values of a trace as Python's: integers, floats, booleans, and the classes of `gapii/values.py` for enums, bits and
//! addresses.

use gapii_trace::description::{Description, Kind, Repr, Type};
use gapii_trace::value::{Value, split_strings};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};

static ENUM: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static FLAGS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static POINTER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns a value of Python; `None` for a value that the record lacks.
pub fn scalar<'py>(
    py: Python<'py>,
    description: &Description,
    value: Value,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Value::Signed(value) => value.into_pyobject(py)?.into_any(),
        Value::F32(value) => f64::from(value).into_pyobject(py)?.into_any(),
        Value::F64(value) => value.into_pyobject(py)?.into_any(),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Enum { group, bits } => {
            let name = description.enum_name(group, bits);
            object(py, &ENUM, "gapii.values", "Enum")?.call1((bits, name))?
        }
        Value::Bitfield { group, bits } => {
            let (names, rest) = description.bit_names(group, bits);
            object(py, &FLAGS, "gapii.values", "Flags")?.call1((bits, names, rest))?
        }
        Value::Pointer(address) => {
            object(py, &POINTER, "gapii.values", "Pointer")?.call1((address,))?
        }
        Value::Missing => py.None().into_bound(py),
    })
}

/// Returns the value of a text of JSON.
pub fn json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    object(py, &LOADS, "json", "loads")?.call1((text,))
}

/// Returns the elements of memory; `None` if they have no size, or do not fill the memory.
pub fn elements<'py>(
    py: Python<'py>,
    description: &Description,
    (kind, element): (Kind, Type),
    bytes: &[u8],
) -> PyResult<Option<Bound<'py, PyList>>> {
    let size = usize::from(element.repr.map_or(0, Repr::size));
    if size == 0 || !bytes.len().is_multiple_of(size) {
        return Ok(None);
    }
    let list = PyList::empty(py);
    for (index, at) in (0..bytes.len()).step_by(size).enumerate() {
        let ty = match kind {
            // An attribute, and then its value.
            Kind::Attributes(group) if index.is_multiple_of(2) => {
                Type { kind: Kind::Enum(group), ..element }
            }
            _ => element,
        };
        list.append(scalar(py, description, Value::read(ty, bytes, at))?)?;
    }
    Ok(Some(list))
}

/// Returns a string up to its NUL, if it has one. Invalid UTF-8 is replaced.
pub fn text<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    PyString::new(py, &String::from_utf8_lossy(&bytes[..end]))
}

/// Returns the strings of an array of strings; `None` if they do not fill the bytes.
pub fn texts<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyList>>> {
    let strings = split_strings(bytes);
    let list =
        |strings: Vec<&[u8]>| PyList::new(py, strings.into_iter().map(|string| text(py, string)));
    strings.map(list).transpose()
}

/// Returns the name of an element's type for `numpy.dtype`; `None` if the type has no size.
pub fn dtype(element: Type) -> Option<&'static str> {
    Some(match element.repr? {
        Repr::Void => return None,
        Repr::U8 => "u1",
        Repr::I8 => "i1",
        Repr::U16 => "<u2",
        Repr::I16 => "<i2",
        Repr::U32 => "<u4",
        Repr::I32 => "<i4",
        Repr::U64 | Repr::Pointer => "<u8",
        Repr::I64 => "<i8",
        Repr::F32 => "<f4",
        Repr::F64 => "<f8",
    })
}

fn object<'py>(
    py: Python<'py>,
    place: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    place.import(py, module, name)
}
