//! A producer that sends from its caller, with every way to choose a partition.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::check::{message, messages};
use crate::target::{TOPIC, Target};

const PARTITIONS: u32 = 3;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.client().await?;
    created(target, &client).await?;
    chunks(target, &client).await?;
    by_partition(target, &client).await?;
    by_key(target, &client).await?;
    elsewhere(target, &client).await?;
    refusals(target, &client).await?;
    client.delete_stream(&target.stream()?).await?;
    client.shutdown().await?;
    Ok(())
}

/// The producer makes the stream and the topic that it needs, and spreads messages over its partitions.
async fn created(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client
        .producer(&target.name, TOPIC)?
        .create_topic_if_not_exists(
            PARTITIONS,
            IggyExpiry::ServerDefault,
            MaxTopicSize::ServerDefault,
        )
        .build();
    producer.init().await.context("init")?;
    producer.init().await.context("second init")?;
    ensure!(producer.send(vec![]).await?.confirmations.is_empty());
    let mut hit = BTreeSet::new();
    for i in 0..PARTITIONS {
        let sent = producer
            .send_one(message(&format!("balanced {i}"))?)
            .await?;
        hit.extend(sent.confirmations.iter().map(|c| c.partition_id));
    }
    ensure!(hit.len() == PARTITIONS as usize, "balanced hits {hit:?}");
    Ok(())
}

/// What is longer than a batch goes in several, each confirmed with the place of its first message.
async fn chunks(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client
        .producer(&target.name, TOPIC)?
        .direct(DirectConfig::builder().batch_length(10).build())
        .partitioning(Partitioning::partition_id(0))
        .build();
    producer.init().await?;
    let first = producer.send(messages("chunk", 25)?).await?.confirmations;
    ensure!(first.len() == 3, "{first:?}");
    ensure!(
        first[1].base_offset == first[0].base_offset + 10,
        "{first:?}"
    );
    ensure!(
        first[2].base_offset == first[0].base_offset + 20,
        "{first:?}"
    );
    let next = producer.send(messages("next", 1)?).await?.confirmations;
    ensure!(next[0].base_offset == first[0].base_offset + 25, "{next:?}");
    Ok(())
}

async fn by_partition(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client.producer(&target.name, TOPIC)?.build();
    producer.init().await?;
    for partition in 0..PARTITIONS {
        let to = Partitioning::partition_id(partition);
        let sent = producer
            .send_with_partitioning(messages("chosen", 2)?, Some(to.into()))
            .await?
            .confirmations;
        ensure!(
            sent.len() == 1 && sent[0].partition_id == partition,
            "{sent:?}"
        );
    }
    Ok(())
}

/// Messages of one key stay in one partition.
async fn by_key(target: &Target, client: &IggyClient) -> Result<()> {
    let producer = client.producer(&target.name, TOPIC)?.build();
    producer.init().await?;
    for key in ["ada", "bob", "a key that is longer than sixteen bytes"] {
        let mut hit = BTreeSet::new();
        for _ in 0..3 {
            let to = Partitioning::messages_key_str(key)?;
            let sent = producer
                .send_with_partitioning(messages(key, 2)?, Some(to.into()))
                .await?;
            hit.extend(sent.confirmations.iter().map(|c| c.partition_id));
        }
        ensure!(hit.len() == 1, "key {key} hits {hit:?}");
    }
    Ok(())
}

/// A producer may send to another topic than its own.
async fn elsewhere(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    client
        .create_topic(&stream, "other", &TopicCreateOptions::default())
        .await?;
    let producer = client.producer(&target.name, TOPIC)?.build();
    producer.init().await?;
    let topic = Identifier::named("other")?;
    producer
        .send_to(
            stream.clone().into(),
            topic.clone().into(),
            messages("other", 3)?,
            None,
        )
        .await?;
    let details = client.get_topic(&stream, &topic).await?.context("other")?;
    ensure!(details.messages_count == 3, "{details:?}");
    Ok(())
}

async fn refusals(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let mut one = [message("to nobody")?];
    let topic = Identifier::named("no-such-topic")?;
    let partitioning = Partitioning::partition_id(0);
    let sent = client
        .send_messages(&stream, &topic, &partitioning, &mut one)
        .await;
    ensure!(sent.is_err(), "a topic that is not there takes messages");
    let missing = client
        .producer(&target.name, "no-such-topic")?
        .do_not_create_topic_if_not_exists()
        .build();
    ensure!(missing.init().await.is_err(), "a producer without a topic");
    Ok(())
}
