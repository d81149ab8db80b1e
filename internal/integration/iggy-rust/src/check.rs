//! What scenarios compare with.

use anyhow::{Result, bail};
use iggy::prelude::*;

/// Codes that HTTP replaces by the status 404.
const NOT_FOUND: [u32; 11] = [
    20, 100, 1009, 1010, 2010, 2011, 3007, 3021, 4000, 5000, 5003,
];

/// Wants a call to have failed with the code of an error.
pub fn refused<T>(result: Result<T, IggyError>, want: &IggyError, over_http: bool) -> Result<()> {
    let Err(got) = result else {
        bail!("the call succeeded, want error {} ({want})", want.as_code());
    };
    if &got == want || over_http && same_over_http(&got, want.as_code()) {
        return Ok(());
    }
    bail!(
        "got error {} ({got}), want {} ({want})",
        got.as_code(),
        want.as_code()
    );
}

fn same_over_http(got: &IggyError, want: u32) -> bool {
    match got {
        IggyError::ResourceNotFound(_) => NOT_FOUND.contains(&want),
        IggyError::HttpResponseError(_, body) => {
            let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
            body["id"].as_u64() == Some(want.into())
        }
        _ => false,
    }
}

/// A message of a text.
pub fn message(text: &str) -> Result<IggyMessage> {
    Ok(IggyMessage::builder()
        .payload(text.to_owned().into())
        .build()?)
}

/// Messages whose texts are a word and a number that counts from 0.
pub fn messages(word: &str, count: usize) -> Result<Vec<IggyMessage>> {
    (0..count)
        .map(|i| message(&format!("{word} {i}")))
        .collect()
}

/// The texts of messages.
pub fn texts(messages: &[IggyMessage]) -> Vec<String> {
    messages
        .iter()
        .map(|m| String::from_utf8_lossy(&m.payload).into_owned())
        .collect()
}
