//! Messages of every shape, the same in each run.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use iggy::prelude::*;

use crate::target::Target;

/// What `write` and `read` are to do.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// Key of 32 bytes in base64; payloads and headers are encrypted with it on the way.
    #[arg(long)]
    key: Option<String>,
}

impl Options {
    /// What the SDK has no way for: over HTTP it panics at ids of more than 64 bits that it sends, and of encrypted
    /// messages it reads only those with headers.
    pub fn limits(&self) -> Limits {
        let http = self.target.over_http();
        Limits {
            short_ids: http,
            labelled: http && self.key.is_some(),
        }
    }

    /// A client that has the key, if there is one.
    pub async fn client(&self) -> Result<IggyClient> {
        let Some(key) = &self.key else {
            return self.target.client().await;
        };
        let key = STANDARD.decode(key).context("key")?;
        self.target.encrypting(&key).await
    }
}

/// What messages have to be like.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Ids have 64 bits.
    short_ids: bool,
    /// There is no message without a header.
    labelled: bool,
}

impl Limits {
    fn headers(self) -> Result<Option<BTreeMap<HeaderKey, HeaderValue>>> {
        let label = (HeaderKey::try_from("label")?, true.into());
        Ok(self.labelled.then(|| BTreeMap::from([label])))
    }
}

/// Sizes of payloads: around what somebody may have a limit at.
const SIZES: [usize; 13] = [
    0, 1, 2, 27, 28, 255, 256, 257, 1000, 4096, 65535, 65536, 102_400,
];

/// Keys by which a partition is chosen; the third is longer than a block of the hash.
pub const KEYS: [&str; 5] = ["ada", "bob", "a key longer than sixteen bytes", "ü", "5"];

const KINDS: [(HeaderKind, usize); 13] = [
    (HeaderKind::Int8, 1),
    (HeaderKind::Int16, 2),
    (HeaderKind::Int32, 4),
    (HeaderKind::Int64, 8),
    (HeaderKind::Int128, 16),
    (HeaderKind::Uint8, 1),
    (HeaderKind::Uint16, 2),
    (HeaderKind::Uint32, 4),
    (HeaderKind::Uint64, 8),
    (HeaderKind::Uint128, 16),
    (HeaderKind::Float32, 4),
    (HeaderKind::Float64, 8),
    (HeaderKind::Raw, 200),
];

/// The messages that go to partition 0 in one batch.
pub fn batch(limits: Limits) -> Result<Vec<IggyMessage>> {
    let mut messages = Vec::new();
    for (i, size) in SIZES.into_iter().enumerate() {
        messages.push(build(
            i as u128 + 1,
            filled(size, i as u8),
            limits.headers()?,
        )?);
    }
    for id in [u128::from(u64::MAX), 1 << 64, (1 << 64) + 7, u128::MAX] {
        messages.push(build(id, id.to_string().into_bytes(), limits.headers()?)?);
    }
    messages.push(build(101, b"headers".to_vec(), Some(headers()?))?);
    let few = BTreeMap::from([(HeaderKey::try_from("a")?, HeaderValue::try_from("b")?)]);
    messages.push(build(102, filled(300, 9), Some(few))?);
    messages.retain(|m| !limits.short_ids || m.header.id <= u128::from(u64::MAX));
    Ok(messages)
}

/// The message that goes where a key leads.
pub fn keyed(index: usize, limits: Limits) -> Result<IggyMessage> {
    build(
        1000 + index as u128,
        KEYS[index].as_bytes().to_vec(),
        limits.headers()?,
    )
}

fn build(
    id: u128,
    payload: Vec<u8>,
    headers: Option<BTreeMap<HeaderKey, HeaderValue>>,
) -> Result<IggyMessage> {
    // The builder wants a payload that is not empty, which nobody else does.
    let empty = payload.is_empty();
    let payload = if empty { vec![0] } else { payload };
    let mut message = IggyMessage::builder()
        .id(id)
        .payload(payload.into())
        .maybe_user_headers(headers)
        .build()?;
    if empty {
        message.payload.clear();
        message.header.payload_length = 0;
    }
    Ok(message)
}

/// A header of every kind, as value and for some as key too.
fn headers() -> Result<BTreeMap<HeaderKey, HeaderValue>> {
    let mut headers = BTreeMap::from([
        (
            HeaderKey::try_from("string")?,
            HeaderValue::try_from("größe")?,
        ),
        (HeaderKey::try_from("true")?, true.into()),
        (HeaderKey::try_from("false")?, false.into()),
        (7u32.into(), HeaderValue::try_from("key of a number")?),
        (
            HeaderKey::from_raw(HeaderKind::Raw, &[0, 255, 1])?,
            HeaderValue::try_from("key of bytes")?,
        ),
    ]);
    for (kind, size) in KINDS {
        let key = HeaderKey::try_from(format!("kind {}", kind.as_code()))?;
        headers.insert(key, HeaderValue::from_raw(kind, &filled(size, 0x80))?);
    }
    Ok(headers)
}

/// Bytes of all values in no simple order.
fn filled(size: usize, seed: u8) -> Vec<u8> {
    (0..size)
        .map(|i| (i.wrapping_mul(167) >> 3) as u8 ^ seed ^ i as u8)
        .collect()
}
