"""What every part of the house may use: files and descriptors."""
