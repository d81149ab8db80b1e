//! A producer that the server keeps from storing anything twice.

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::{messages, refused, texts};
use crate::poll::poll_all;
use crate::target::{TOPIC, Target};

pub async fn run(target: &Target) -> Result<()> {
    let client = target.with_topic(2).await?;
    producer(target, &client).await?;
    sections(target, &client).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

/// The producer of the SDK, over several batches and both partitions.
async fn producer(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client
        .producer(&target.name, TOPIC)?
        .direct(DirectConfig::builder().batch_length(10).build())
        .idempotent()
        .build();
    producer.init().await.context("init")?;
    for _ in 0..4 {
        producer.send(messages("once", 25)?).await.context("send")?;
    }
    let stored = poll_all(target, client, TOPIC, 0).await?.len()
        + poll_all(target, client, TOPIC, 1).await?.len();
    ensure!(stored == 100, "{stored} messages are stored");
    Ok(())
}

/// What the server does with the number that a batch of a producer begins with.
async fn sections(target: &Target, client: &IggyClient) -> Result<()> {
    let (stream, topic) = (target.stream()?, Identifier::named("sections")?);
    client
        .create_topic(&stream, "sections", &TopicCreateOptions::default())
        .await?;
    let id = client.next_producer_id().await.context("producer id")?;
    let send = async |epoch: u16, base: u32| {
        let section = BatchProducer::new(id, epoch, base).ok_or(IggyError::InvalidCommand)?;
        let mut batch = messages(&format!("{epoch}/{base}"), 3).map_err(|_| IggyError::Error)?;
        let sent = client
            .send_producer_messages(&stream, &topic, 0, section, &mut batch)
            .await?;
        Ok(sent.confirmations.first().map(|c| c.base_offset))
    };
    refused(send(0, 3).await, &IggyError::ProducerUnknown, false)?;
    let first = send(0, 0).await?;
    ensure!(send(0, 0).await? == first, "a repeat has another place");
    let second = send(0, 3).await?;
    ensure!(second > first, "{first:?} and {second:?}");
    ensure!(send(0, 3).await? == second, "a repeat has another place");
    refused(
        send(0, 9).await,
        &IggyError::ProducerSequenceOutOfOrder,
        false,
    )?;
    send(1, 0).await.context("a new epoch")?;
    refused(send(0, 6).await, &IggyError::ProducerEpochFenced, false)?;
    let got = texts(&poll_all(target, client, "sections", 0).await?);
    let want: Vec<String> = ["0/0", "0/3", "1/0"]
        .iter()
        .flat_map(|section| (0..3).map(move |i| format!("{section} {i}")))
        .collect();
    ensure!(got == want, "{got:?}");
    Ok(())
}
