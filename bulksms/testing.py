"""The pytest plugin `bulksms_client.testing` by another name, for projects whose environment has the service."""

from bulksms_client.testing import bulksms, bulksms_server, pytest_addoption

__all__ = ["bulksms", "bulksms_server", "pytest_addoption"]
