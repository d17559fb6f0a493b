//! The result of a check as JUnit's XML: a test case for each trace. A trace that could not be played is an error, one that
//! draws something else a failure, one that was not played is skipped. Characters that XML 1.0 does not allow become U+FFFD.

use std::fmt::Write;

use super::answer::{Checked, CheckedTrace, Verdict};

/// Returns the text of the file. `name` is that of the list.
pub fn text(checked: &Checked, name: &str) -> String {
    let count = |verdicts: &[Verdict]| {
        checked.traces.iter().filter(|it| verdicts.contains(&it.verdict)).count()
    };
    let tests = checked.traces.len();
    let failures = count(&[Verdict::Different, Verdict::UnknownDriver]);
    let (errors, skipped) = (count(&[Verdict::Unplayable]), count(&[Verdict::Stopped]));
    let (name, seconds) = (escaped(name), checked.seconds);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        xml,
        r#"<testsuite name="{name}" tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{seconds:.3}">"#
    );
    checked.traces.iter().for_each(|trace| case(trace, &mut xml));
    xml.push_str("</testsuite>\n</testsuites>\n");
    xml
}

fn case(trace: &CheckedTrace, xml: &mut String) {
    let name = escaped(&trace.trace.to_string_lossy());
    let class = escaped(trace.renderer.as_deref().unwrap_or("unknown driver"));
    let _ =
        write!(xml, r#"<testcase name="{name}" classname="{class}" time="{:.3}""#, trace.seconds);
    let element = match trace.verdict {
        Verdict::Pass | Verdict::Updated => {
            xml.push_str("/>\n");
            return;
        }
        Verdict::Stopped => {
            xml.push_str("><skipped/></testcase>\n");
            return;
        }
        Verdict::Different | Verdict::UnknownDriver => "failure",
        Verdict::Unplayable => "error",
    };
    let reasons = trace.reasons();
    let message = escaped(reasons.first().map_or("", String::as_str));
    let all = escaped(&reasons.join("\n"));
    let _ = writeln!(xml, r#"><{element} message="{message}">{all}</{element}></testcase>"#);
}

/// The text as content of an element or an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            letter if letter < ' ' || matches!(letter, '\u{FFFE}' | '\u{FFFF}') => {
                escaped.push('\u{FFFD}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_trace_is_a_test_case() {
        let of = |name: &str, verdict, error: Option<&str>| {
            CheckedTrace::without_frames(Path::new(name), verdict, error.map(str::to_owned))
        };
        let pass = CheckedTrace { renderer: Some("r".into()), ..of("a", Verdict::Pass, None) };
        let traces = vec![
            pass,
            of("b", Verdict::UnknownDriver, Some("no \"driver\"")),
            of("c<d", Verdict::Unplayable, Some("a & b")),
            of("e", Verdict::Stopped, None),
        ];
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="traces.toml" tests="4" failures="1" errors="1" skipped="1" time="1.500">
<testcase name="a" classname="r" time="0.000"/>
<testcase name="b" classname="unknown driver" time="0.000"><failure message="no &quot;driver&quot;">no &quot;driver&quot;</failure></testcase>
<testcase name="c&lt;d" classname="unknown driver" time="0.000"><error message="a &amp; b">a &amp; b</error></testcase>
<testcase name="e" classname="unknown driver" time="0.000"><skipped/></testcase>
</testsuite>
</testsuites>
"#;
        assert_eq!(text(&Checked::of(traces, 1.5), "traces.toml"), expected);
    }

    #[test]
    fn characters_that_xml_does_not_allow_are_replaced() {
        assert_eq!(escaped("a\u{1}b\u{FFFF}<"), "a\u{FFFD}b\u{FFFD}&lt;");
    }
}
