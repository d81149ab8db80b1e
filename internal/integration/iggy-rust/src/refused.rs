//! What HTTP has no way for is refused, by the SDK itself or by the server.

use anyhow::{Result, ensure};
use bytes::Bytes;
use iggy::prelude::*;

use crate::check::messages;
use crate::target::{TOPIC, Target};

pub async fn run(target: &Target) -> Result<()> {
    ensure!(target.over_http(), "this scenario is for HTTP");
    let client = target.with_topic(1).await?;
    groups(target, &client).await?;
    let unavailable = || IggyError::FeatureUnavailable;
    target.refused(client.next_producer_id().await, unavailable())?;
    let producer = client.producer(&target.name, TOPIC)?.idempotent().build();
    target.refused(producer.init().await, unavailable())?;
    let section = BatchProducer::new(1, 0, 0).ok_or_else(|| anyhow::anyhow!("no section"))?;
    let mut batch = messages("refused", 1)?;
    let sent = client
        .send_producer_messages(&target.stream()?, &target.topic()?, 0, section, &mut batch)
        .await;
    target.refused(sent, unavailable())?;
    let raw = client.send_binary_request(1, Bytes::new()).await;
    target.refused(raw, unavailable())?;
    let raw = client.send_binary_request_to_replica(10, Bytes::new(), 0);
    target.refused(raw.await, unavailable())?;
    target.refused(client.get_me().await, unavailable())?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

async fn groups(target: &Target, client: &IggyClient) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let id = Identifier::named("readers")?;
    client
        .create_consumer_group(&stream, &topic, "readers")
        .await?;
    let unavailable = || IggyError::FeatureUnavailable;
    let joined = client.join_consumer_group(&stream, &topic, &id).await;
    target.refused(joined, unavailable())?;
    let left = client.leave_consumer_group(&stream, &topic, &id).await;
    target.refused(left, unavailable())?;
    let synced = client.sync_consumer_group(&stream, &topic, &id).await;
    target.refused(synced, unavailable())?;
    let mut member = client
        .consumer_group("readers", &target.name, TOPIC)?
        .build();
    target.refused(member.init().await, unavailable())?;
    let polled = client
        .poll_messages(
            &stream,
            &topic,
            0,
            &Consumer::group(id),
            &PollingStrategy::next(),
            PollOptions::default(),
        )
        .await;
    target.refused(polled, unavailable())
}
