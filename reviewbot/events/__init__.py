"""What happened or was said, read into a request: the words of a command line now, payloads of forges later."""
