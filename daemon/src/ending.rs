//! The signal for all tasks that the daemon ends.

use tokio::sync::watch;

/// Resolves when the daemon is told to end, or when its main task is gone.
pub async fn told(ending: &mut watch::Receiver<bool>) {
    // The main task holds the sender: if it is gone, the daemon ends too.
    drop(ending.wait_for(|&ending| ending).await);
}
