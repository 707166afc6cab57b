"""The workbench: a local page to look through the rows of a report, and to decide about them."""
