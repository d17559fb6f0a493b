//! Where files are: the parts of a path or URL, and the client of an object store that its scheme and the environment ask for.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

use crate::error::Error;

/// How long a request may take, with its bytes.
const REQUEST_MAX: &str = "300s";
/// How often a request is tried again before its failure is one of the operation.
const RETRIES_MAX: usize = 5;

/// A builder with the environment's settings, and with this crate's patience.
macro_rules! patient {
    ($builder:ident, $key:ident) => {
        $builder::from_env()
            .with_config($key::Client(ClientConfigKey::Timeout), REQUEST_MAX)
            .with_retry(retries())
    };
}

/// A client, and where in its store the place is.
pub struct Place {
    pub objects: Arc<dyn ObjectStore>,
    /// Writes in parts that can be continued later; `None` for a folder of this machine.
    pub parts: Option<Arc<dyn MultipartStore>>,
    pub base: Path,
    /// What a user looks at when credentials are refused.
    pub variables: &'static str,
    pub keeps: Keeps,
}

/// Where the store keeps a digest beside the contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    Always,
    /// Not of files that are written in parts.
    IfWhole,
    Never,
}

/// Whether `place` is a URL, and not a path.
pub fn is_url(place: &str) -> bool {
    place.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|it| it.is_ascii_alphanumeric())
    })
}

/// Returns the place that `text` names.
pub fn of(text: &str) -> Result<Place, Error> {
    let wrong = |why: String| Error::Place { place: text.to_owned(), why };
    let Some((scheme, rest)) = text.split_once("://").filter(|_| is_url(text)) else {
        return folder(text).map_err(wrong);
    };
    if scheme == "file" {
        return match rest.starts_with('/') {
            true => folder(rest).map_err(wrong),
            false => Err(wrong("behind `file://` stands the path from the root".to_owned())),
        };
    }
    let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(wrong(format!("it names no bucket; write it as `{scheme}://BUCKET/FOLDER`")));
    }
    let base = Path::parse(path).map_err(|error| wrong(error.to_string()))?;
    // Set before the first client is made; another one that is set already serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |error: object_store::Error| wrong(error.to_string());
    match scheme {
        "s3" => {
            must_be_a_pair("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", text)?;
            let builder = patient!(AmazonS3Builder, AmazonS3ConfigKey).with_bucket_name(bucket);
            let store = builder.build().map_err(failed)?;
            Ok(cloud(
                store,
                base,
                Keeps::Always,
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT",
            ))
        }
        "gs" => {
            let builder =
                patient!(GoogleCloudStorageBuilder, GoogleConfigKey).with_bucket_name(bucket);
            let store = builder.build().map_err(failed)?;
            Ok(cloud(store, base, Keeps::Always, "GOOGLE_SERVICE_ACCOUNT"))
        }
        "az" => {
            must_be_set(&["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_USE_EMULATOR"], text)?;
            let builder =
                patient!(MicrosoftAzureBuilder, AzureConfigKey).with_container_name(bucket);
            let store = builder.build().map_err(failed)?;
            Ok(cloud(
                store,
                base,
                Keeps::IfWhole,
                "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
            ))
        }
        _ => Err(wrong("its scheme is none of `s3`, `gs`, `az` and `file`".to_owned())),
    }
}

/// Returns a place in a store that takes large files in parts.
fn cloud<S: ObjectStore + MultipartStore>(
    store: S,
    base: Path,
    keeps: Keeps,
    variables: &'static str,
) -> Place {
    let store = Arc::new(store);
    Place { objects: store.clone(), parts: Some(store), base, keeps, variables }
}

/// Returns a folder of this machine, which need not exist yet.
fn folder(path: &str) -> Result<Place, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let base = path.to_str().ok_or("its name is not UTF-8")?;
    let base = Path::parse(base).map_err(|error| error.to_string())?;
    Ok(Place {
        objects: Arc::new(LocalFileSystem::new()),
        parts: None,
        base,
        keeps: Keeps::Never,
        variables: "the permissions of the folder",
    })
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: Duration::from_secs(60) }
}

/// Fails if the first of these variables is not set, unless another one is.
fn must_be_set(variables: &[&'static str], place: &str) -> Result<(), Error> {
    match variables.iter().any(|it| std::env::var_os(it).is_some()) {
        true => Ok(()),
        false => Err(Error::Variable { variable: variables[0], place: place.to_owned() }),
    }
}

/// Fails if one of two variables is set alone.
fn must_be_a_pair(one: &'static str, other: &'static str, place: &str) -> Result<(), Error> {
    match [one, other].map(|it| std::env::var_os(it).is_some()) {
        [true, false] => must_be_set(&[other], place),
        [false, true] => must_be_set(&[one], place),
        _ => Ok(()),
    }
}
