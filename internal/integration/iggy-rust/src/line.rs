//! Messages as lines of JSON, which whoever compares two clients can read.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use iggy::prelude::*;
use serde::Serialize;

/// A message. Bytes are in base64.
#[derive(Serialize)]
pub struct Line {
    pub partition: u32,
    pub offset: u64,
    /// The id, a number of 128 bits, in decimal digits.
    pub id: String,
    /// The key by which the partition was chosen, of a message that was sent by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub payload: String,
    /// The headers, as they are encoded.
    pub block: String,
    pub headers: Vec<Header>,
}

/// A header, decoded.
#[derive(Serialize)]
pub struct Header {
    key: Field,
    value: Field,
}

#[derive(Serialize)]
struct Field {
    /// The code of the kind.
    kind: u8,
    data: String,
}

impl Line {
    pub fn new(message: &IggyMessage) -> Result<Self> {
        let mut headers = Vec::new();
        for (key, value) in message.user_headers_map()?.unwrap_or_default() {
            headers.push(Header {
                key: Field::new(key.kind(), key.as_bytes()),
                value: Field::new(value.kind(), value.as_bytes()),
            });
        }
        Ok(Self {
            partition: 0,
            offset: message.header.offset,
            id: message.header.id.to_string(),
            key: None,
            payload: STANDARD.encode(&message.payload),
            block: STANDARD.encode(message.user_headers.as_deref().unwrap_or_default()),
            headers,
        })
    }

    pub fn print(&self) -> Result<()> {
        println!("{}", serde_json::to_string(self).context("line")?);
        Ok(())
    }
}

impl Field {
    fn new(kind: HeaderKind, data: &[u8]) -> Self {
        Self {
            kind: kind.as_code(),
            data: STANDARD.encode(data),
        }
    }
}
