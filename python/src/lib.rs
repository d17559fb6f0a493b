//! The compiled part of the Python package `gapii`: reads traces with the project's own reader. The module is private;
//! `gapii/` beside this folder is what people import. Decodes nothing itself, and runs no program.

use pyo3::prelude::*;

mod arrow;
mod command;
mod failure;
mod frames;
mod live;
mod memory;
mod object;
mod opened;
mod recorded;
mod selection;
mod source;
mod stream;
mod trace;
mod values;

/// The module `gapii._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<failure::Error>())?;
    module.add("DamagedError", py.get_type::<failure::DamagedError>())?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<frames::Frame>()?;
    module.add_class::<command::Commands>()?;
    module.add_class::<command::Command>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<arrow::Arrow>()?;
    module.add_function(wrap_pyfunction!(trace::_follow, module)?)?;
    let end = wrap_pyfunction!(object::end, module)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    Ok(())
}
