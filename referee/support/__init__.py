"""Files, texts, options, descriptors and processes: what every other part may use."""
