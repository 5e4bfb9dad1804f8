"""One small change of the code for each promise, and the tests that must notice it.

A test that passes whether or not the code keeps its promise proves nothing. So each entry of `catalogue/` breaks one
promise by a small change (a condition dropped, a lock left out, a comparison turned), and names the tests that must
fail with it. `make mutations` tries all of them, each in a copy of the source; the default tests try a sample.

An entry of a catalogue, a TOML file by the package whose code it changes:

    [[mutation]]
    promise = "A read-only key cannot cancel a send."
    file = "api/resources/sends/routes.py"
    old = 'scope="sms:send"'                    # occurs once in the file
    new = 'scope="read"'
    tests = ["tests/integration/accept/test_send.py"]  # as pytest takes them

A change that alters nothing that anybody could see has `equal = "why"` in place of `tests`.
"""
