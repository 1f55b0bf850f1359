"""Pages that are made from templates: reports of leagues and gradings, and the pages about many replays."""
