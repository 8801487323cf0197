"""What real agents said and took, written down so that tests replay it without them."""
