//! A run of `gapii-ctl` that answers a question: killed when nobody waits for it any more, when it prints more than 64 MiB
//! (`OUTPUT_MAX`), and after two minutes (`TIME_MAX`).

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

/// Most bytes that are read of an output.
const OUTPUT_MAX: u64 = 64 << 20;
/// Longest time for an answer.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Returns what `gapii-ctl` prints. An answer beside a failure counts, such as the readable part of a damaged trace.
///
/// # Errors
/// The sentence that it prints instead, or why there is none.
pub async fn ask(
    tool: &Path,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<String, String> {
    let mut command = Command::new(tool);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = command.kill_on_drop(true).spawn();
    let mut child = started.map_err(|error| format!("can't run {}: {error}", tool.display()))?;
    let (out, messages) = (child.stdout.take(), child.stderr.take());
    let answered = async {
        let (printed, said) = tokio::try_join!(read(out), read(messages))?;
        let status = child.wait().await.map_err(|error| error.to_string())?;
        Ok::<_, String>((status, printed, said))
    };
    let answered = timeout(TIME_MAX, answered).await;
    let late = || format!("no answer within {} s; ask for less", TIME_MAX.as_secs());
    let (status, printed, said) = answered.map_err(|_| late())??;
    if status.success() || !printed.is_empty() {
        return Ok(printed);
    }
    match sentence(&said) {
        Some(sentence) => Err(sentence),
        None => Err(format!("gapii-ctl ended with {status}")),
    }
}

/// Reads a stream to its end.
async fn read(stream: Option<impl AsyncRead + Unpin>) -> Result<String, String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let mut stream = stream.take(OUTPUT_MAX);
        stream.read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
        if stream.limit() == 0 {
            return Err(format!("the answer has more than {} MiB; ask for less", OUTPUT_MAX >> 20));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The sentence of a failure: with `--json`, `message` of the field `error` of the last line.
fn sentence(said: &str) -> Option<String> {
    let last = said.lines().rfind(|line| !line.trim().is_empty())?;
    let failure = serde_json::from_str::<serde_json::Value>(last).ok();
    let stated = failure.as_ref().and_then(|it| it["error"]["message"].as_str()).map(str::to_owned);
    Some(stated.unwrap_or_else(|| last.trim_start_matches("gapii-ctl: ").to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Result<String, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(ask(Path::new("sh"), ["-c", script]))
    }

    #[test]
    fn answers_and_sentences_are_passed_on() {
        assert_eq!(shell("echo answer"), Ok("answer\n".to_owned()));
        assert_eq!(shell("echo part; echo damaged >&2; exit 1"), Ok("part\n".to_owned()));
        assert_eq!(
            shell("echo '{\"error\": {\"message\": \"no file\"}}' >&2; exit 3"),
            Err("no file".to_owned())
        );
        assert_eq!(shell("echo 'gapii-ctl: no file' >&2; exit 3"), Err("no file".to_owned()));
        assert_eq!(shell("exit 7"), Err("gapii-ctl ended with exit status: 7".to_owned()));
    }

    #[test]
    fn endless_output_is_given_up() {
        let begun = Instant::now();
        let refused = shell("exec yes").unwrap_err();
        assert!(refused.contains("more than 64 MiB"), "{refused}");
        assert!(begun.elapsed() < TIME_MAX / 2);
    }

    #[test]
    fn tool_that_is_not_there_is_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let refused = runtime.block_on(ask(Path::new("/no/gapii-ctl"), ["info"])).unwrap_err();
        assert!(refused.contains("/no/gapii-ctl"), "{refused}");
    }
}
