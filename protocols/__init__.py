"""The protocols of cotally: pure functions and roles, without input, output, clock or threads."""
