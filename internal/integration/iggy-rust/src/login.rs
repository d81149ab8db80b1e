//! Every way to log in, and out.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use iggy::prelude::*;

use crate::target::Target;

pub async fn run(target: &Target) -> Result<()> {
    wrong_password(target).await?;
    if target.over_http() {
        return explicit(target).await;
    }
    explicit(target).await?;
    after_disconnect(target).await?;
    logged_out(target).await
}

/// A wrong password is one clear error, and soon.
async fn wrong_password(target: &Target) -> Result<()> {
    let (user, _) = target.credentials()?;
    let wrong = target.with_login(&format!("{user}:wrong-password"))?;
    let attempt = tokio::time::timeout(Duration::from_secs(20), wrong.client());
    let error = match attempt.await.context("a wrong password is answered late")? {
        Ok(_) => anyhow::bail!("a wrong password logs in"),
        Err(error) => error.downcast::<IggyError>()?,
    };
    let want = if target.over_http() {
        // 42 is none of the errors that a client over HTTP knows.
        [
            IggyError::Unauthenticated,
            IggyError::HttpResponseError(400, String::new()),
        ]
    } else {
        [IggyError::InvalidCredentials, IggyError::InvalidCredentials]
    };
    ensure!(want.contains(&error), "wrong password: {error}");
    Ok(())
}

/// Logs out and in again with one client.
async fn explicit(target: &Target) -> Result<()> {
    let client = target.client().await?;
    client.get_streams().await.context("after the login")?;
    let (user, password) = target.credentials()?;
    let identity = client.login_user(user, password).await?;
    ensure!(identity.user_id == 0, "root is user {}", identity.user_id);
    if target.over_http() {
        ensure!(identity.access_token.is_some(), "no access token");
    }
    client
        .get_streams()
        .await
        .context("after the second login")?;
    client.logout_user().await.context("logout")?;
    target.refused(client.get_streams().await, IggyError::Unauthenticated)?;
    client.login_user(user, password).await?;
    client
        .get_streams()
        .await
        .context("after the third login")?;
    client.ping().await?;
    client.shutdown().await?;
    if !target.over_http() {
        target.refused(client.get_streams().await, IggyError::ClientShutdown)?;
    }
    Ok(())
}

/// A client that has disconnected can connect again.
async fn after_disconnect(target: &Target) -> Result<()> {
    let client = target.client().await?;
    client.disconnect().await?;
    ensure!(
        client.get_streams().await.is_err(),
        "a client that is not connected has an answer"
    );
    client.connect().await.context("connect again")?;
    client.get_streams().await?;
    client.shutdown().await?;
    Ok(())
}

/// A client that is logged out is connected, and may do nothing but log in.
async fn logged_out(target: &Target) -> Result<()> {
    let client = target.client().await?;
    client.logout_user().await?;
    target.refused(client.get_me().await, IggyError::Unauthenticated)?;
    let made = client
        .create_stream(&target.name, &StreamCreateOptions::default())
        .await;
    target.refused(made, IggyError::Unauthenticated)?;
    client.shutdown().await?;
    Ok(())
}
