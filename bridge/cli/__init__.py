"""The command line: `interrupt-bridge`. Each command is a module; main picks and reports."""
