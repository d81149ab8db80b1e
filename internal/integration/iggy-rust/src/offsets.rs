//! Offsets that a server keeps for consumers.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::messages;
use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(2).await?;
    for partition in 0..2 {
        client
            .send_messages(
                &target.stream()?,
                &target.topic()?,
                &Partitioning::partition_id(partition),
                &mut messages("offset", 10)?,
            )
            .await?;
    }
    let mut kinds = vec![Consumer::new(Identifier::named("reader")?)];
    kinds.push(Consumer::new(Identifier::numeric(77)?));
    if !target.over_http() {
        kinds.push(Consumer::external_group(Identifier::named("outside")?));
    }
    for consumer in &kinds {
        stored(target, &client, consumer)
            .await
            .with_context(|| format!("{consumer:?}"))?;
    }
    next(target, &client).await?;
    positions(target, &client).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

async fn stored(target: &Target, client: &IggyClient, consumer: &Consumer) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let get = || client.get_consumer_offset(consumer, &stream, &topic, Some(1));
    let store = |offset| client.store_consumer_offset(consumer, &stream, &topic, Some(1), offset);
    let delete = || client.delete_consumer_offset(consumer, &stream, &topic, Some(1));
    ensure!(get().await.context("get")?.is_none());
    target.refused(delete().await, IggyError::ConsumerOffsetNotFound(0))?;
    for offset in [4, 9, 2] {
        store(offset)
            .await
            .with_context(|| format!("store {offset}"))?;
        let info = get().await?.context("nothing is stored")?;
        ensure!(
            info.stored_offset == offset && info.partition_id == 1,
            "{info:?}"
        );
        ensure!(info.current_offset == 9, "{info:?}");
    }
    target.refused(store(10).await, IggyError::InvalidOffset(10))?;
    let other = client.get_consumer_offset(consumer, &stream, &topic, Some(0));
    ensure!(other.await?.is_none(), "stored for the other partition too");
    delete().await.context("delete")?;
    ensure!(get().await?.is_none(), "the offset is left");
    Ok(())
}

/// A poll for what is next begins behind the stored offset, and stores its own if asked to.
async fn next(target: &Target, client: &IggyClient) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let consumer = Consumer::new(Identifier::named("next")?);
    client
        .store_consumer_offset(&consumer, &stream, &topic, Some(0), 3)
        .await?;
    for want in [4, 6] {
        let options = PollOptions {
            count: 2,
            commit: CommitPolicy::OnRead,
            ..Default::default()
        };
        let polled = client
            .poll_messages(
                &stream,
                &topic,
                0,
                &consumer,
                &PollingStrategy::next(),
                options,
            )
            .await?;
        let first = polled.messages.first().context("nothing")?;
        ensure!(
            first.header.offset == want,
            "{} for {want}",
            first.header.offset
        );
    }
    Ok(())
}

/// What was read of a partition cannot be committed for another one of the same number.
async fn positions(target: &Target, client: &IggyClient) -> Result<()> {
    let (stream, topic) = (target.stream()?, target.topic()?);
    let consumer = Consumer::new(Identifier::named("positions")?);
    let poll = || async {
        let polled = client
            .poll_messages(
                &stream,
                &topic,
                0,
                &consumer,
                &PollingStrategy::offset(0),
                PollOptions::default(),
            )
            .await?;
        polled.checkpoint().context("nothing to commit")
    };
    let old = poll().await?;
    client
        .store_consumer_position(&consumer, &stream, &topic, &old)
        .await
        .context("store")?;
    client.delete_topic(&stream, &topic).await?;
    let options = TopicCreateOptions {
        partitions_count: Some(2),
        ..Default::default()
    };
    client.create_topic(&stream, "events", &options).await?;
    client
        .send_messages(
            &stream,
            &topic,
            &Partitioning::partition_id(0),
            &mut messages("new life", 10)?,
        )
        .await
        .context("send to the new topic")?;
    let late = client
        .store_consumer_position(&consumer, &stream, &topic, &old)
        .await;
    target.refused(late, IggyError::HistoryUnavailable)?;
    let new = poll().await?;
    client
        .store_consumer_position(&consumer, &stream, &topic, &new)
        .await
        .context("store in the new topic")?;
    client
        .delete_consumer_position(&consumer, &stream, &topic, &new)
        .await
        .context("delete")?;
    Ok(())
}
