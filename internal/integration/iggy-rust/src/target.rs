//! The server that a scenario talks to.

use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use iggy::prelude::*;

/// Where the server is, and under which names a scenario works on it.
#[derive(Args, Clone)]
pub struct Target {
    /// Connection string, such as iggy+quic://iggy:iggy@127.0.0.1:8080.
    #[arg(long)]
    pub url: String,
    /// Name of the stream of the scenario, and what other names of it begin with.
    #[arg(long)]
    pub name: String,
}

/// Name of the topic of most scenarios.
pub const TOPIC: &str = "events";

impl Target {
    /// Whether the transport has neither sessions nor groups.
    pub fn over_http(&self) -> bool {
        self.url.starts_with("iggy+http://")
    }

    /// Name and password of the connection string.
    pub fn credentials(&self) -> Result<(&str, &str)> {
        let (login, _) = self.parts()?;
        login.split_once(':').context("a url without a password")
    }

    /// The connection string with another login.
    pub fn with_login(&self, login: &str) -> Result<Self> {
        let (_, rest) = self.parts()?;
        let (scheme, _) = self.url.split_once("://").context("a url without ://")?;
        Ok(Self {
            url: format!("{scheme}://{login}@{rest}"),
            name: self.name.clone(),
        })
    }

    fn parts(&self) -> Result<(&str, &str)> {
        let (_, rest) = self.url.split_once("://").context("a url without ://")?;
        rest.split_once('@').context("a url without a login")
    }

    /// A client that is connected and logged in.
    pub async fn client(&self) -> Result<IggyClient> {
        self.enter(IggyClient::from_connection_string(&self.url)?)
            .await
    }

    /// A client that encrypts what it sends, and decrypts what it polls.
    pub async fn encrypting(&self, key: &[u8]) -> Result<IggyClient> {
        let encryptor = EncryptorKind::Aes256Gcm(Aes256GcmEncryptor::new(key)?);
        let client = IggyClient::builder_from_connection_string(&self.url)?
            .with_encryptor(Arc::new(encryptor))
            .build()?;
        self.enter(client).await
    }

    async fn enter(&self, client: IggyClient) -> Result<IggyClient> {
        client.connect().await.context("connect")?;
        if self.over_http() {
            let (user, password) = self.credentials()?;
            client.login_user(user, password).await.context("login")?;
        }
        Ok(client)
    }

    /// The stream of the scenario.
    pub fn stream(&self) -> Result<Identifier> {
        Ok(Identifier::named(&self.name)?)
    }

    /// The topic of most scenarios.
    pub fn topic(&self) -> Result<Identifier> {
        Ok(Identifier::named(TOPIC)?)
    }

    /// A client, and the stream and the topic of the scenario made by it.
    pub async fn with_topic(&self, partitions: u32) -> Result<IggyClient> {
        let client = self.client().await?;
        self.create_topic(&client, partitions).await?;
        Ok(client)
    }

    /// Makes the stream and the topic of the scenario.
    pub async fn create_topic(&self, client: &IggyClient, partitions: u32) -> Result<()> {
        client
            .create_stream(&self.name, &StreamCreateOptions::default())
            .await
            .context("create stream")?;
        let options = TopicCreateOptions {
            partitions_count: Some(partitions),
            ..Default::default()
        };
        client
            .create_topic(&self.stream()?, TOPIC, &options)
            .await
            .context("create topic")?;
        Ok(())
    }

    /// Wants a call to be refused with an error. HTTP tells some errors by the status only, and others as the text of
    /// a reply.
    pub fn refused<T>(&self, result: Result<T, IggyError>, want: IggyError) -> Result<()> {
        crate::check::refused(result, &want, self.over_http())
    }
}
