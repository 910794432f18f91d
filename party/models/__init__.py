"""Models as files: written, read strictly, and applied to rows."""
