"""From a claimed batch to a settled one. Begin with `dispatch.py`."""
