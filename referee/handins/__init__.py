"""What was handed in: whose it is, and how the platforms of courses lay it out."""
