"""What an author does with one bot: checks it, asks it the questions of a replay again, and begins a new one."""
