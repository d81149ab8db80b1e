//! Messages that only their readers can read.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use iggy::prelude::*;

use crate::check::texts;
use crate::consumer::take;
use crate::poll::poll_all;
use crate::target::{TOPIC, Target};

const KEY: [u8; 32] = [7; 32];
const SECRETS: [&str; 3] = ["the first secret", "the second secret", "s"];

pub async fn run(target: &Target) -> Result<()> {
    let client = target.encrypting(&KEY).await?;
    target.create_topic(&client, 1).await?;
    send(target, &client).await?;
    let mut reader = consumer(target, &client)?;
    reader.init().await?;
    for (received, want) in take(&mut reader, SECRETS.len()).await?.iter().zip(SECRETS) {
        ensure!(received.message.payload == want, "{:?}", received.message);
        let headers = received.message.user_headers_map()?.context("no headers")?;
        ensure!(headers == labels()?, "{headers:?}");
    }
    reader.shutdown().await?;
    on_the_server(target).await?;
    wrong_key(target).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

fn labels() -> Result<BTreeMap<HeaderKey, HeaderValue>> {
    let key = HeaderKey::try_from("label")?;
    Ok(BTreeMap::from([(
        key,
        HeaderValue::try_from("secret too")?,
    )]))
}

async fn send(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client
        .producer(&target.name, TOPIC)?
        .partitioning(Partitioning::partition_id(0))
        .build();
    producer.init().await?;
    for secret in SECRETS {
        let message = IggyMessage::builder()
            .payload(secret.into())
            .user_headers(labels()?)
            .build()?;
        producer.send_one(message).await.context("send")?;
    }
    Ok(())
}

fn consumer(target: &Target, client: &IggyClient) -> Result<IggyConsumer> {
    Ok(client
        .consumer("reader", &target.name, TOPIC)?
        .partitions([0])
        .poll_options(PollOptions::wait(IggyDuration::ONE_SECOND))
        .build())
}

/// Without the key there is neither text nor header, but a nonce and a tag.
async fn on_the_server(target: &Target) -> Result<()> {
    let client = target.client().await?;
    let stored = poll_all(target, &client, TOPIC, 0).await?;
    for (message, secret) in stored.iter().zip(SECRETS) {
        ensure!(message.payload.len() == secret.len() + 28, "{message:?}");
    }
    ensure!(texts(&stored).iter().all(|text| !text.contains("secret")));
    client.shutdown().await?;
    Ok(())
}

/// A reader with another key says so, and can leave the message out.
async fn wrong_key(target: &Target) -> Result<()> {
    let client = target.encrypting(&[8; 32]).await?;
    let mut reader = consumer(target, &client)?;
    reader.init().await?;
    let error = match reader.next().await {
        Some(Err(error)) => error,
        Some(Ok(_)) => bail!("a message was read with the wrong key"),
        None => bail!("the consumer ended"),
    };
    ensure!(error.error == IggyError::CannotDecryptData, "{error:?}");
    reader.seek(0, error.skip.context("no way around")?).await?;
    let next = reader.next().await.context("the consumer ended")?;
    let offset = next.err().context("the second message was read")?.offset;
    ensure!(target.over_http() || offset == Some(1), "offset {offset:?}");
    reader.shutdown().await?;
    client.shutdown().await?;
    Ok(())
}
