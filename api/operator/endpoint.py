"""Declares the operations of the operator API, as `endpoint` does those of the customers' API."""

from functools import partial

from api.endpoint import OPERATORS, endpoint

operator_endpoint = partial(endpoint, api=OPERATORS)
