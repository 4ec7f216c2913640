"""The world as a hook needs it that has little time: a linter started without a sandbox's ado."""
