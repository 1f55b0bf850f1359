"""The interface of a conversation in an older protocol."""
