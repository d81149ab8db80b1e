//! Requests that the program builds itself.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use iggy::prelude::*;

use crate::target::Target;

const PING: u32 = 1;
const GET_STATS: u32 = 10;
const GET_STREAM: u32 = 200;
const LOGIN: u32 = 40;
const LOGOUT: u32 = 39;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(1).await?;
    if target.over_http() {
        http(target, &client).await?;
    } else {
        binary(target, &client).await?;
    }
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

async fn binary(target: &Target, client: &IggyClient) -> Result<()> {
    let pong = client.send_binary_request(PING, Bytes::new()).await?;
    ensure!(pong.is_empty(), "{pong:?}");
    let mut body = vec![2, target.name.len() as u8];
    body.extend_from_slice(target.name.as_bytes());
    let stream = client
        .send_binary_request(GET_STREAM, body.into())
        .await
        .context("stream")?;
    let want = client
        .get_stream(&target.stream()?)
        .await?
        .context("none")?;
    ensure!(stream.starts_with(&want.id.to_le_bytes()), "{stream:?}");
    let stats = client
        .send_binary_request_to_replica(GET_STATS, Bytes::new(), 0)
        .await
        .context("stats of replica 0")?;
    ensure!(stats.len() > 100, "{} bytes", stats.len());
    for code in [LOGIN, LOGOUT] {
        let refused = client.send_binary_request(code, Bytes::new()).await;
        target.refused(refused, IggyError::InvalidCommand)?;
    }
    let unknown = client.send_binary_request(9999, Bytes::new()).await;
    ensure!(unknown.is_err(), "an unknown command has an answer");
    let malformed = client
        .send_binary_request(GET_STREAM, Bytes::from_static(&[2, 200, 1]))
        .await;
    ensure!(malformed.is_err(), "half a request has an answer");
    client.get_streams().await.context("after what was wrong")?;
    let http = client.send_http_request(HttpMethod::Get, "/stats", None);
    target.refused(http.await, IggyError::FeatureUnavailable)
}

async fn http(target: &Target, client: &IggyClient) -> Result<()> {
    let get = async |path: &str| client.send_http_request(HttpMethod::Get, path, None).await;
    let streams: serde_json::Value = serde_json::from_slice(&get("/streams").await?)?;
    let streams = streams.as_array().context("no list")?;
    ensure!(streams.iter().any(|s| s["name"] == target.name.as_str()));
    ensure!(
        get("/no-such-path").await.is_err(),
        "a path that is not there"
    );
    let odd = Some(Bytes::from_static(b"{\"name\": 7"));
    let odd = client.send_http_request(HttpMethod::Post, "/streams", odd);
    ensure!(odd.await.is_err(), "half a request has an answer");
    Ok(())
}
