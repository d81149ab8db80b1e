//! Partitions and segments of a topic.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::message;
use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(1).await?;
    let (stream, topic) = (target.stream()?, target.topic()?);
    let count = || async {
        let details = client.get_topic(&stream, &topic).await?;
        let details = details.context("no topic")?;
        ensure!(details.partitions.len() == details.partitions_count as usize);
        anyhow::Ok(details.partitions_count)
    };
    client
        .create_partitions(&stream, &topic, 2)
        .await
        .context("create")?;
    ensure!(count().await? == 3);
    send_to_each(target, &client, 3).await?;
    client
        .delete_partitions(&stream, &topic, 1)
        .await
        .context("delete")?;
    ensure!(count().await? == 2);
    let gone = client
        .send_messages(
            &stream,
            &topic,
            &Partitioning::partition_id(2),
            &mut [message("to nobody")?],
        )
        .await;
    ensure!(gone.is_err(), "a partition that is gone takes messages");
    new_life(target, &client).await?;
    segments(target, &client).await?;
    fixed(target, &client).await?;
    client.delete_stream(&stream).await?;
    client.shutdown().await?;
    Ok(())
}

async fn send_to_each(target: &Target, client: &IggyClient, partitions: u32) -> Result<()> {
    for partition in 0..partitions {
        let sent = client
            .send_messages(
                &target.stream()?,
                &target.topic()?,
                &Partitioning::partition_id(partition),
                &mut [message("one")?],
            )
            .await
            .with_context(|| format!("send to partition {partition}"))?;
        ensure!(
            sent.confirmations
                .iter()
                .all(|c| c.partition_id == partition)
        );
    }
    Ok(())
}

/// A partition of a number that was there before is another one, and empty.
async fn new_life(target: &Target, client: &IggyClient) -> Result<()> {
    client
        .create_partitions(&target.stream()?, &target.topic()?, 1)
        .await?;
    let polled = client
        .poll_messages(
            &target.stream()?,
            &target.topic()?,
            2,
            &Consumer::default(),
            &PollingStrategy::first(),
            PollOptions::default(),
        )
        .await
        .context("poll of the new partition")?;
    ensure!(polled.messages.is_empty(), "{:?}", polled.messages);
    send_to_each(target, client, 3).await
}

/// Removes the closed segments of a partition: the reader goes on where messages are.
async fn segments(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let topic = Identifier::named("segments")?;
    let options = TopicCreateOptions {
        segment_size: Some(IggyByteSize::from(1024 * 1024)),
        ..Default::default()
    };
    client.create_topic(&stream, "segments", &options).await?;
    for _ in 0..4 {
        let payload = bytes::Bytes::from(vec![7; 600 * 1024]);
        let mut batch = [IggyMessage::builder().payload(payload).build()?];
        client
            .send_messages(&stream, &topic, &Partitioning::partition_id(0), &mut batch)
            .await?;
    }
    let before = client.get_topic(&stream, &topic).await?.context("topic")?;
    let closed = before.partitions[0].segments_count - 1;
    ensure!(closed >= 1, "{:?}", before.partitions);
    client
        .delete_segments(&stream, &topic, 0, closed)
        .await
        .context("delete segments")?;
    let after = client.get_topic(&stream, &topic).await?.context("topic")?;
    ensure!(
        after.partitions[0].segments_count < before.partitions[0].segments_count,
        "{:?}",
        after.partitions
    );
    let polled = client
        .poll_messages(
            &stream,
            &topic,
            0,
            &Consumer::default(),
            &PollingStrategy::offset(0),
            PollOptions::default(),
        )
        .await
        .context("poll below the oldest message")?;
    let first = polled.messages.first().context("nothing is left")?;
    ensure!(first.header.offset > 0, "offset {}", first.header.offset);
    Ok(())
}

/// Who wants its partitions to stay as they are gets that.
async fn fixed(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let options = TopicCreateOptions {
        partition_resize_policy: Some(PartitionResizePolicy::Fixed),
        ..Default::default()
    };
    client.create_topic(&stream, "fixed", &options).await?;
    let refused = client
        .create_partitions(&stream, &Identifier::named("fixed")?, 1)
        .await;
    target.refused(refused, IggyError::PartitionResizeDisabled)
}
