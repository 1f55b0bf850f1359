"""All input and output with players: programs in separate processes, and bots in this process. Also: how players are named."""
