//! `schema`: prints the JSON Schema of a command's `--json` output, or a map of all.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::json::schema::{FORMS, schema};
use crate::text;

#[derive(Args, Debug)]
pub struct Schema {
    /// Command, such as run or "pair new"; error and message stand for the lines on standard error [default: all]
    #[arg(value_name = "COMMAND", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(FORMS.iter().map(|form| form.command)))]
    command: Option<String>,
}

pub fn run(args: &Schema) -> Result<u8, Failure> {
    let wanted = args.command.as_deref();
    let found = match FORMS.iter().find(|form| Some(form.command) == wanted) {
        Some(form) => schema(form),
        None => Value::Object(
            FORMS.iter().map(|form| (form.command.to_owned(), schema(form))).collect::<Map<_, _>>(),
        ),
    };
    text::print(|out| {
        serde_json::to_writer_pretty(&mut *out, &found)?;
        writeln!(out)
    })?;
    Ok(0)
}
