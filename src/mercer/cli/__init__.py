"""The command ``mercer``."""
