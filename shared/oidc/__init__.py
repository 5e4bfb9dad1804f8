"""Sign-in through an OpenID Connect provider."""
