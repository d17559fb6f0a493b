//! Keeps answers short enough for an agent: at most 48 KiB (`BYTES_MAX`). Of lists, the first elements are kept, and of
//! lines the first lines. What is left out is said in a sentence that stands behind the answer.

use serde_json::{Value, json};

/// Longest answer in bytes.
pub const BYTES_MAX: usize = 48 << 10;
/// Numbers of elements that lists are shortened to, one after the other, until the answer fits.
const ELEMENTS: [usize; 6] = [256, 64, 16, 8, 4, 2];
/// Longest text in a shortened answer in bytes, such as the source of a shader.
const TEXT_MAX: usize = 2000;

/// An answer that fits.
#[derive(Debug, PartialEq, Eq)]
pub struct Bounded {
    pub text: String,
    /// A sentence about the part that was left out.
    pub remark: Option<String>,
}

/// Shortens what `gapii-ctl` has printed with `--json`: one value, or one in each line.
///
/// # Errors
/// A sentence, if the answer cannot be made short enough.
pub fn bounded(printed: &str) -> Result<Bounded, String> {
    let printed = printed.trim_end();
    if printed.len() <= BYTES_MAX {
        return Ok(Bounded { text: printed.to_owned(), remark: None });
    }
    match serde_json::from_str(printed) {
        Ok(value) => shortened(&value, printed.len()),
        Err(_) => first_lines(printed),
    }
}

fn first_lines(printed: &str) -> Result<Bounded, String> {
    let mut text = String::new();
    let all = printed.lines().count();
    let mut kept = 0;
    for line in printed.lines() {
        if text.len() + line.len() >= BYTES_MAX {
            break;
        }
        text.push_str(line);
        text.push('\n');
        kept += 1;
    }
    match kept {
        0 => Err(too_long(printed.len())),
        _ => {
            let remark =
                format!("Only the first {kept} of {all} lines. Ask for those behind, or for less.");
            Ok(Bounded { text: text.trim_end().to_owned(), remark: Some(remark) })
        }
    }
}

fn shortened(value: &Value, bytes: usize) -> Result<Bounded, String> {
    for elements in ELEMENTS {
        let text = shorter(value, elements).to_string();
        if text.len() <= BYTES_MAX {
            let remark = format!(
                "The whole answer has {bytes} bytes: lists have at most {elements} elements here, and texts {TEXT_MAX} \
                 bytes; `left_out` says how many more there are. Ask for less to see the rest."
            );
            return Ok(Bounded { text, remark: Some(remark) });
        }
    }
    Err(too_long(bytes))
}

fn too_long(bytes: usize) -> String {
    format!("the answer has {bytes} bytes, and {BYTES_MAX} can be sent; ask for a part of it")
}

/// The value with at most so many elements in each list.
fn shorter(value: &Value, elements: usize) -> Value {
    match value {
        Value::Array(all) => {
            let mut kept: Vec<_> =
                all.iter().take(elements).map(|it| shorter(it, elements)).collect();
            if all.len() > elements {
                kept.push(json!({"left_out": all.len() - elements}));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.clone(), shorter(it, elements))).collect()
        }
        Value::String(text) if text.len() > TEXT_MAX => {
            let end = (0..=TEXT_MAX).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0);
            json!({"text": text[..end], "left_out": text.len() - end})
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_stay_as_they_are() {
        for printed in ["{\"a\": 1}\n", "{}\n{}\n", ""] {
            let kept = bounded(printed).unwrap();
            assert_eq!(kept, Bounded { text: printed.trim_end().to_owned(), remark: None });
        }
    }

    #[test]
    fn long_lists_and_texts_are_shortened_and_counted() {
        let all: Vec<_> = (0..20_000).collect();
        let kept = bounded(&json!({"all": all, "text": "é".repeat(1500)}).to_string()).unwrap();
        assert!(kept.text.len() <= BYTES_MAX && kept.remark.is_some());
        let value: Value = serde_json::from_str(&kept.text).unwrap();
        let list = value["all"].as_array().unwrap();
        assert_eq!(list.len(), 257);
        assert_eq!(list[256], json!({"left_out": 20_000 - 256}));
        assert_eq!(value["text"], json!({"text": "é".repeat(1000), "left_out": 1000}));
    }

    #[test]
    fn lists_of_long_elements_are_shortened_further() {
        let all: Vec<_> = (0..1000).map(|at| json!({"at": at, "text": "x".repeat(1000)})).collect();
        let kept = bounded(&json!(all).to_string()).unwrap();
        let value: Value = serde_json::from_str(&kept.text).unwrap();
        assert_eq!(value.as_array().unwrap().len(), 17);
    }

    #[test]
    fn first_lines_are_kept_whole() {
        let line = json!({"text": "x".repeat(1000)}).to_string();
        let kept = bounded(&format!("{line}\n").repeat(100)).unwrap();
        assert!(kept.text.len() <= BYTES_MAX);
        assert!(kept.text.lines().all(|it| it == line));
        let count = kept.text.lines().count();
        assert_eq!(count, (BYTES_MAX - 1) / (line.len() + 1));
        assert!(kept.remark.unwrap().contains(&format!("first {count} of 100 lines")));
    }

    #[test]
    fn answer_that_cannot_be_shortened_is_refused() {
        let fields: Value = (0..10_000).map(|at| (format!("field{at}"), json!(at))).collect();
        assert!(bounded(&fields.to_string()).unwrap_err().contains("ask for a part"));
        let line = json!("x".repeat(BYTES_MAX)).to_string();
        assert!(bounded(&format!("{line}\n{line}\n")).is_err());
    }
}
