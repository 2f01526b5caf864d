"""What English texts say, for every room that reads them: words, stems and dates; pure, and nothing of ours is imported here."""
