"""What a conversation in an older protocol must be able to do."""
