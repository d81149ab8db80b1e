//! Topics, with every option that the SDK has a field for.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::{TOPIC, Target};

const MIB: u64 = 1024 * 1024;

pub async fn run(target: &Target) -> Result<()> {
    let client = target.client().await?;
    let stream = target.stream()?;
    client
        .create_stream(&target.name, &StreamCreateOptions::default())
        .await?;
    create(target, &client).await?;
    refusals(target, &client).await?;
    update(target, &client).await?;
    let topic = Identifier::named("renamed")?;
    client
        .delete_topic(&stream, &topic)
        .await
        .context("delete")?;
    ensure!(client.get_topic(&stream, &topic).await?.is_none());
    ensure!(client.get_topics(&stream).await?.is_empty());
    client.delete_stream(&stream).await?;
    client.shutdown().await?;
    Ok(())
}

fn options() -> TopicCreateOptions {
    TopicCreateOptions {
        partitions_count: Some(3),
        compression_algorithm: Some(CompressionAlgorithm::Gzip),
        message_expiry: Some(IggyExpiry::ExpireDuration(Duration::from_secs(3600).into())),
        max_topic_size: Some(MaxTopicSize::Custom(IggyByteSize::from(64 * MIB))),
        segment_size: Some(IggyByteSize::from(8 * MIB)),
        durability: Durability::Persisted,
        consumer_offset_durability: Durability::Persisted,
        partition_resize_policy: Some(PartitionResizePolicy::Fixed),
        messages_required_to_save: Some(10),
        size_of_messages_required_to_save: Some(IggyByteSize::from(MIB)),
        preallocate_segments: Some(false),
        replication_factor: Some(1),
        ..Default::default()
    }
}

async fn create(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let made = client
        .create_topic(&stream, TOPIC, &options())
        .await
        .context("create")?;
    ensure!(made.name == TOPIC && made.partitions_count == 3, "{made:?}");
    ensure!(made.partitions.len() == 3, "{:?}", made.partitions);
    for (i, partition) in made.partitions.iter().enumerate() {
        ensure!(partition.id as usize == i, "{partition:?}");
        ensure!(partition.context.incarnation > 0, "{partition:?}");
        ensure!(partition.messages_count == 0, "{partition:?}");
    }
    for id in [target.topic()?, Identifier::numeric(made.id)?] {
        let found = client.get_topic(&stream, &id).await?.context("no topic")?;
        check_options(&found.resolved_options())?;
        let durability = found.options.get(&HeaderKey::try_from("durability")?);
        let durability = durability.context("no durability")?;
        ensure!(durability.explicit, "{durability:?}");
    }
    let listed = client.get_topics(&stream).await?;
    ensure!(listed.len() == 1, "{listed:?}");
    check_options(&listed[0].resolved_options())
}

fn check_options(got: &TopicResolvedOptions) -> Result<()> {
    let want = options();
    ensure!(
        got.compression_algorithm == CompressionAlgorithm::Gzip,
        "{got:?}"
    );
    ensure!(Some(got.message_expiry) == want.message_expiry, "{got:?}");
    ensure!(Some(got.max_topic_size) == want.max_topic_size, "{got:?}");
    ensure!(
        got.partition_resize_policy == PartitionResizePolicy::Fixed,
        "{got:?}"
    );
    let runtime = got.runtime;
    ensure!(runtime.segment_size == want.segment_size, "{got:?}");
    ensure!(runtime.durability == Durability::Persisted, "{got:?}");
    ensure!(
        runtime.consumer_offset_durability == Durability::Persisted,
        "{got:?}"
    );
    ensure!(runtime.messages_required_to_save == Some(10), "{got:?}");
    Ok(())
}

async fn refusals(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let again = client.create_topic(&stream, TOPIC, &options()).await;
    target.refused(
        again,
        IggyError::TopicNameAlreadyExists(TOPIC.into(), stream.clone()),
    )?;
    let many = TopicCreateOptions {
        partitions_count: Some(1001),
        ..Default::default()
    };
    ensure!(
        client.create_topic(&stream, "many", &many).await.is_err(),
        "a topic of 1001 partitions"
    );
    let mut odd = TopicCreateOptions::default();
    odd.raw.insert("segment_size".into(), "3 KiB".into());
    target.refused(
        client.create_topic(&stream, "odd", &odd).await,
        IggyError::InvalidOptionValue(String::new()),
    )?;
    let nowhere = Identifier::named("no-such-stream")?;
    target.refused(
        client.create_topic(&nowhere, TOPIC, &options()).await,
        IggyError::StreamIdNotFound(nowhere.clone()),
    )
}

/// Sets an option, then resets it to its default.
async fn update(target: &Target, client: &IggyClient) -> Result<()> {
    let stream = target.stream()?;
    let minute = IggyExpiry::ExpireDuration(Duration::from_secs(60).into());
    let set = TopicUpdateOptions {
        name: Some("renamed".into()),
        message_expiry: Some(minute),
        max_topic_size: Some(MaxTopicSize::Custom(IggyByteSize::from(32 * MIB))),
        ..Default::default()
    };
    client
        .update_topic(&stream, &target.topic()?, &set)
        .await
        .context("update")?;
    ensure!(client.get_topic(&stream, &target.topic()?).await?.is_none());
    let topic = Identifier::named("renamed")?;
    let got = client
        .get_topic(&stream, &topic)
        .await?
        .context("renamed")?;
    ensure!(got.resolved_options().message_expiry == minute, "{got:?}");

    let reset = TopicUpdateOptions {
        reset: BTreeSet::from([OptionKey::MessageExpiry, OptionKey::MaxTopicSize]),
        ..Default::default()
    };
    client
        .update_topic(&stream, &topic, &reset)
        .await
        .context("reset")?;
    let got = client.get_topic(&stream, &topic).await?.context("reset")?;
    let options = got.resolved_options();
    ensure!(
        options.message_expiry == IggyExpiry::NeverExpire,
        "{options:?}"
    );
    ensure!(
        options.max_topic_size == MaxTopicSize::Unlimited,
        "{options:?}"
    );

    let mut fixed = TopicUpdateOptions::default();
    fixed.raw.insert("segment_size".into(), "16777216".into());
    let refused = client.update_topic(&stream, &topic, &fixed).await;
    ensure!(refused.is_err(), "the size of segments changed");
    Ok(())
}
