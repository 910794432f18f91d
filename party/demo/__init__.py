"""The whole product on one machine: two party processes, each with its own folder, and what their runs cost."""
