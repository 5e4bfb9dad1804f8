"""The pages, a module for each theme. `console/views/operator/` has room for the operator's."""
