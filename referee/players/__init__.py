"""All input and output with players: programs in processes of their own, bots in this process, and how they are named."""
